// Threads contend for one permit. Each thread acquires the permit, takes steps of a shared mt19937 (one by default),
// releases the permit, and repeats this until the end. In the semabench of Dice and Kogan's paper, a thread also takes
// one step of a private mt19937 after its release. In MutexBench, a thread does nothing there.
//
// The interval begins once every thread has been admitted, so that no iteration counts in which a thread was alone. But
// some locks let a thread starve as long as others come, so the interval begins after two seconds in any case.
// Iterations that end inside the interval count, in ten parts of the same length. A thread leaves the loop only after
// its release, so the remaining waiters are admitted in turn and leave too. The main thread polls until all threads are
// admitted and until all have left, since it must not depend on the way of waiting that is measured.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

#include "mt19937.hpp"
#include "probe.hpp"
#include "semaphore.hpp"

struct ContentionResult {
  double seconds = 0;
  double cpuSeconds = 0;
  std::uint64_t contextSwitches = 0;  // of all threads, whether they gave their processor away or lost it
  std::vector<std::uint64_t> iterations;   // one for each thread
  std::vector<double> partSeconds;         // one for each part of the interval
  std::vector<std::uint64_t> partIterations;  // one for each part; those of all threads together
  std::optional<double> longestWaitMs;
  std::optional<Bypasses> bypasses;
  std::optional<std::uint64_t> outOfOrder;
};

// The steps of the shared generator inside the section, and of the thread's own generator after the section. The first
// two types have the numbers of the papers, and Work has any others.
struct Semabench {
  static constexpr unsigned inside = 1, outside = 1;
};
struct Mutexbench {
  static constexpr unsigned inside = 1, outside = 0;
};
struct Work {
  unsigned inside, outside;
};

// The part that is the same for all semaphores (contention.cpp): the interval, and the counts of its threads.
class Interval {
 public:
  ContentionResult run(double seconds);

 protected:
  using Clock = std::chrono::steady_clock;
  // The parts of the interval are the consecutive phases from measuring on.
  static constexpr int parts = 10;
  static constexpr int gathered = 0, measuring = 1, stopped = measuring + parts;

  struct alignas(sectorSize) Result {
    // The iterations that ended before each phase began. If the thread slept through a whole phase, this phase gets the
    // number of the next phase that the thread noticed.
    std::array<std::uint64_t, stopped + 1> marks{};
    std::uint64_t turns = 0;  // all iterations, inside the interval or not
    Clock::duration longestWait{0};
  };

  Interval(unsigned threads, unsigned inside, bool apart) : inside_(inside), apart_(apart), results_(threads) {}
  ~Interval() = default;

  // The loop of a thread: iterates until the end.
  virtual void work(unsigned thread) = 0;
  // Wakes threads that the semaphore has forgotten. Returns false if the semaphore never forgets threads.
  virtual bool wakeForgotten() = 0;
  virtual void addRecords(ContentionResult& result, Clock::duration longestWait) const = 0;

  // Returns the part of a wait that lies in the interval. So a thread that starves through the whole interval shows.
  Clock::duration waitedInInterval(Clock::time_point arrival) const {
    const Clock::time_point now = Clock::now();
    const int phase = phase_.load(std::memory_order_acquire);
    if (phase == gathered) return Clock::duration{0};
    const Clock::time_point until = phase == stopped ? std::min(now, end_) : now;
    return until - std::max(arrival, begin_);
  }

  static constexpr std::uint32_t seed = 0;

  alignas(sectorSize) Mt19937 shared_{seed};
  // The phase is written some ten times in a run, and read in every iteration.
  alignas(sectorSize) std::atomic<int> phase_{gathered};
  alignas(sectorSize) std::atomic<std::size_t> admitted_{0};
  std::atomic<std::size_t> left_{0};

 private:
  void stop(std::vector<std::thread>& threads);

  const unsigned inside_;
  const bool apart_;
  Clock::time_point begin_, end_;

 protected:
  std::vector<Result> results_;
};

template <class Semaphore, class Probe, class Steps>
class Contention final : public Interval {
 public:
  Contention(unsigned threads, const Knobs& knobs, Steps steps)
      : Interval(threads, steps.inside, Apart<Semaphore>), steps_(steps), semaphore_(1, knobs), probe_(threads) {}

 private:
  void work(unsigned thread) override {
    std::conditional_t<Apart<Semaphore>, Mt19937, Mt19937&> common = shared_;
    Mt19937 own(thread);
    Result result;
    iterate(thread, common, own, result);
    admitted_.fetch_add(1);
    for (int before = gathered; before != stopped;) {
      iterate(thread, common, own, result);
      const int after = phase_.load(std::memory_order_acquire);
      if (after != before) [[unlikely]] {
        // This iteration ended after the phase had changed, so it belongs to the new phase.
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

  bool wakeForgotten() override {
    if constexpr (requires { semaphore_.wakeForgotten(); }) {
      semaphore_.wakeForgotten();
      return true;
    }
    return false;
  }

  void addRecords(ContentionResult& result, Clock::duration longestWait) const override {
    if constexpr (Probe::records) {
      result.longestWaitMs = std::chrono::duration<double, std::milli>(longestWait).count();
      result.bypasses = probe_.bypasses;
      if constexpr (TicketSemaphore<Semaphore>) result.outOfOrder = probe_.outOfOrder;
    }
  }

  const Steps steps_;
  alignas(sectorSize) Semaphore semaphore_;
  alignas(sectorSize) [[no_unique_address]] Probe probe_;
};
