// Threads contend for one permit: each acquires it, takes steps of a shared mt19937 (one by default), releases it, and
// repeats this until the end. In the semabench of Dice and Kogan's paper each also takes one step of a private mt19937
// after its release; in their MutexBench it does nothing there.
//
// The interval opens once every thread has been admitted, so that none runs alone into the count, or after two seconds,
// since some locks let a thread starve for as long as others come. Iterations that end inside the interval count, in
// ten parts of the same length. A thread leaves the loop only after its release, so the remaining waiters are admitted
// in turn and leave too. Main polls for both events, since it must not depend on the waiting under test.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <vector>

#include "mt19937.hpp"
#include "probe.hpp"
#include "semaphore.hpp"

struct ContentionResult {
  double seconds = 0;
  double cpuSeconds = 0;
  std::vector<std::uint64_t> iterations;   // one for each thread
  std::vector<double> partSeconds;         // of each part of the interval,
  std::vector<std::uint64_t> partIterations;  // and of all threads in it
  std::optional<double> longestWaitMs;
  std::optional<Bypasses> bypasses;
  std::optional<std::uint64_t> outOfOrder;
};

// Steps of the shared generator in the section, and of the thread's own after it: those of the papers, and any others.
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
      // The system refused a thread, so the running ones stop.
      stop(threads);
      throw;
    }
    const Clock::time_point patience = Clock::now() + gathering;
    while (admitted_.load() < threads.size() && Clock::now() < patience) nap();

    const double cpuBefore = processCpuSeconds();
    begin_ = Clock::now();
    phase_.store(measuring, std::memory_order_release);
    ContentionResult result;
    Clock::time_point last = begin_;
    for (int part = 1; part <= parts; part++) {
      const std::chrono::duration<double> due(seconds * part / parts);
      std::this_thread::sleep_until(begin_ + std::chrono::duration_cast<Clock::duration>(due));
      const Clock::time_point now = Clock::now();
      result.partSeconds.push_back(std::chrono::duration<double>(now - last).count());
      last = now;
      if (part < parts) phase_.store(measuring + part, std::memory_order_release);
    }
    end_ = last;
    const double cpuAfter = processCpuSeconds();
    stop(threads);

    result.partIterations.resize(parts);
    result.seconds = std::chrono::duration<double>(end_ - begin_).count();
    result.cpuSeconds = cpuAfter - cpuBefore;
    Clock::duration longest{0};
    Mt19937 expected{seed};
    for (const Result& each : results_) {
      if constexpr (!Apart<Semaphore>) expected.discard(each.turns * steps_.inside);
      result.iterations.push_back(each.marks[stopped] - each.marks[measuring]);
      for (int part = 0; part < parts; part++) {
        result.partIterations[part] += each.marks[measuring + part + 1] - each.marks[measuring + part];
      }
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
  static constexpr std::uint32_t seed = 0;
  static constexpr std::chrono::seconds gathering{2};
  // The parts of the interval are the consecutive phases from measuring on.
  static constexpr int parts = 10;
  static constexpr int gathered = 0, measuring = 1, stopped = measuring + parts;

  struct alignas(sectorSize) Result {
    // The iterations that ended before each phase began. A phase through which the thread slept began for it with the
    // next one that it noticed.
    std::array<std::uint64_t, stopped + 1> marks{};
    std::uint64_t turns = 0;  // all iterations, inside the interval or not
    Clock::duration longestWait{0};
  };

  void work(unsigned thread) {
    std::conditional_t<Apart<Semaphore>, Mt19937, Mt19937&> common = shared_;
    Mt19937 own(thread);
    Result result;
    iterate(thread, common, own, result);
    admitted_.fetch_add(1);
    for (int before = gathered; before != stopped;) {
      iterate(thread, common, own, result);
      const int after = phase_.load(std::memory_order_acquire);
      if (after != before) [[unlikely]] {
        // This iteration ended after the change of phase that it notices, so it belongs to the phase that begins.
        while (before != after) result.marks[++before] = result.turns - 1;
      }
    }
    results_[thread] = result;
    left_.fetch_add(1);
  }

  void iterate(unsigned thread, Mt19937& common, Mt19937& own, Result& result) {
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
    step(common, steps_.inside);
    result.turns++;
    semaphore_.release();
    step(own, steps_.outside);
  }

  // Returns the part of a wait that lies in the interval: a thread that starves through all of it must show.
  Clock::duration waitedInInterval(Clock::time_point arrival) const {
    const Clock::time_point now = Clock::now();
    const int phase = phase_.load(std::memory_order_acquire);
    if (phase == gathered) return Clock::duration{0};
    const Clock::time_point until = phase == stopped ? std::min(now, end_) : now;
    return until - std::max(arrival, begin_);
  }

  void stop(std::vector<std::thread>& threads) {
    phase_.store(stopped, std::memory_order_release);
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
  alignas(sectorSize) Mt19937 shared_{seed};
  alignas(sectorSize) [[no_unique_address]] Probe probe_;
  // The word is written some ten times in a run, and read in every iteration.
  alignas(sectorSize) std::atomic<int> phase_{gathered};
  Clock::time_point begin_, end_;
  std::vector<Result> results_;
  alignas(sectorSize) std::atomic<std::size_t> admitted_{0};
  std::atomic<std::size_t> left_{0};
};
