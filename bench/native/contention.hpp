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
    // The iterations that ended before each phase began. A phase through which the thread slept began for it with the
    // next one that it noticed.
    std::array<std::uint64_t, stopped + 1> marks{};
    std::uint64_t turns = 0;  // all iterations, inside the interval or not
    Clock::duration longestWait{0};
  };

  Interval(unsigned threads, unsigned inside, bool apart) : inside_(inside), apart_(apart), results_(threads) {}
  ~Interval() = default;

  // Iterates until the end, in a thread of its own.
  virtual void work(unsigned thread) = 0;
  // Wakes threads that the semaphore has forgotten; returns false if it forgets none.
  virtual bool wakeForgotten() = 0;
  virtual void addRecords(ContentionResult& result, Clock::duration longestWait) const = 0;

  // Returns the part of a wait that lies in the interval: a thread that starves through all of it must show.
  Clock::duration waitedInInterval(Clock::time_point arrival) const {
    const Clock::time_point now = Clock::now();
    const int phase = phase_.load(std::memory_order_acquire);
    if (phase == gathered) return Clock::duration{0};
    const Clock::time_point until = phase == stopped ? std::min(now, end_) : now;
    return until - std::max(arrival, begin_);
  }

  static constexpr std::uint32_t seed = 0;

  alignas(sectorSize) Mt19937 shared_{seed};
  // The word is written some ten times in a run, and read in every iteration.
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
