// Threads that contend for one permit: acquire, steps of a shared mt19937 (one, unless told), release, and so on until told to stop.
// In the semabench of Dice and Kogan's paper each also takes one step of a private mt19937 after its release; in
// their MutexBench it does nothing there.
//
// The interval opens once every thread has been admitted, so none of them runs alone into the count, or after two
// seconds, since there are locks that let a thread starve for as long as others come. Only iterations that begin and end
// inside it count. A thread leaves the loop only after its release, so those
// that still wait at the end are admitted in turn and leave too. Main polls for both events: it must not depend
// on the waiting that is under test.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "probe.hpp"
#include "semaphore.hpp"

struct ContentionResult {
  double seconds = 0;
  double cpuSeconds = 0;
  std::vector<std::uint64_t> iterations;
  std::optional<double> longestWaitMs;
  std::optional<Bypasses> bypasses;
  std::optional<std::uint64_t> outOfOrder;
};

// Steps of the shared generator in the section, and of the thread's own after it: those of the papers, and any other.
struct Semabench {
  static constexpr unsigned inside = 1, outside = 1;
};
struct Mutexbench {
  static constexpr unsigned inside = 1, outside = 0;
};
struct Work {
  unsigned inside, outside;
};

template <class Semaphore, class Probe, class Steps>
class Contention {
 public:
  Contention(unsigned threads, const Knobs& knobs, Steps steps)
      : steps_(steps), semaphore_(1, knobs), probe_(threads), results_(threads) {}

  ContentionResult run(double seconds) {
    std::vector<std::thread> threads;
    try {
      for (unsigned i = 0; i < results_.size(); i++) threads.emplace_back([this, i] { work(i); });
    } catch (...) {
      // The system refused a thread: let go of those that run.
      stop(threads);
      throw;
    }
    const Clock::time_point patience = Clock::now() + gathering;
    while (admitted_.load() < threads.size() && Clock::now() < patience) nap();

    const double cpuBefore = processCpuSeconds();
    begin_ = Clock::now();
    phase_.store(Phase::measuring, std::memory_order_release);
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    end_ = Clock::now();
    const double cpuAfter = processCpuSeconds();
    stop(threads);

    ContentionResult result;
    result.seconds = std::chrono::duration<double>(end_ - begin_).count();
    result.cpuSeconds = cpuAfter - cpuBefore;
    Clock::duration longest{0};
    std::mt19937 expected{seed};
    for (const Result& each : results_) {
      expected.discard(each.turns * steps_.inside);
      result.iterations.push_back(each.iterations);
      longest = std::max(longest, each.longestWait);
    }
    if (expected != shared_) throw std::runtime_error("it let two threads in at once: steps were lost");
    if constexpr (Probe::records) {
      result.longestWaitMs = std::chrono::duration<double, std::milli>(longest).count();
      result.bypasses = probe_.bypasses;
      if constexpr (TicketSemaphore<Semaphore>) result.outOfOrder = probe_.outOfOrder;
    }
    return result;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::mt19937::result_type seed = 0;
  static constexpr std::chrono::seconds gathering{2};
  enum class Phase { gathering, measuring, stopped };

  struct alignas(sectorSize) Result {
    std::uint64_t iterations = 0;
    std::uint64_t turns = 0;  // all of them, inside the interval or not
    Clock::duration longestWait{0};
  };

  void work(unsigned thread) {
    std::mt19937 own(thread);
    Result result;
    iterate(thread, own, result);
    admitted_.fetch_add(1);
    for (Phase before = phase_.load(std::memory_order_acquire); before != Phase::stopped;) {
      iterate(thread, own, result);
      const Phase after = phase_.load(std::memory_order_acquire);
      result.iterations += before == Phase::measuring && after == Phase::measuring;
      before = after;
    }
    results_[thread] = result;
    left_.fetch_add(1);
  }

  void iterate(unsigned thread, [[maybe_unused]] std::mt19937& own, Result& result) {
    if constexpr (Probe::records) {
      const Clock::time_point arrival = Clock::now();
      probe_.arriving(thread);
      if constexpr (TicketSemaphore<Semaphore>) {
        probe_.admitted(thread, semaphore_.acquire());
      } else {
        semaphore_.acquire();
        probe_.admitted(thread);
      }
      result.longestWait = std::max(result.longestWait, waitedInInterval(arrival));
    } else {
      semaphore_.acquire();
    }
    for (unsigned i = 0; i < steps_.inside; i++) keep(shared_());
    result.turns++;
    semaphore_.release();
    for (unsigned i = 0; i < steps_.outside; i++) keep(own());
  }

  // The part of a wait that lies in the interval: a thread that starves through all of it must show.
  Clock::duration waitedInInterval(Clock::time_point arrival) const {
    const Clock::time_point now = Clock::now();
    const Phase phase = phase_.load(std::memory_order_acquire);
    if (phase == Phase::gathering) return Clock::duration{0};
    const Clock::time_point until = phase == Phase::stopped ? std::min(now, end_) : now;
    return until - std::max(arrival, begin_);
  }

  void stop(std::vector<std::thread>& threads) {
    phase_.store(Phase::stopped, std::memory_order_release);
    if constexpr (requires { semaphore_.wakeForgotten(); }) {
      while (left_.load() < threads.size()) {
        semaphore_.wakeForgotten();
        nap();
      }
    }
    for (std::thread& thread : threads) thread.join();
  }

  static void nap() { std::this_thread::sleep_for(std::chrono::microseconds(200)); }

  static double processCpuSeconds() {
    timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
  }

  const Steps steps_;
  Semaphore semaphore_;
  alignas(sectorSize) std::mt19937 shared_{seed};
  alignas(sectorSize) [[no_unique_address]] Probe probe_;
  // Written three times in a run, read in every iteration.
  alignas(sectorSize) std::atomic<Phase> phase_{Phase::gathering};
  Clock::time_point begin_, end_;
  std::vector<Result> results_;
  alignas(sectorSize) std::atomic<std::size_t> admitted_{0};
  std::atomic<std::size_t> left_{0};
};
