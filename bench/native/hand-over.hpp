// The time from unlock to lock: one thread holds the lock for a while, the other comes meanwhile, waits, and gets it.
//
//   holder    acquire ── begin ────────────────── unlock, release
//   waiter                 └── comes ── waits ─────────────────── has it ── release ── done
//
// The waiter polls for the beginning of the section, so it is awake even for a short section. The holder sleeps a
// little before the section. If both threads were on one processor, the holder then wakes on another. The waiter comes
// at a random moment from 10 to 90 % of a computing section, and at once into a sleeping section.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <random>
#include <thread>
#include <vector>

#include "pause.hpp"
#include "semaphore.hpp"

struct Trials {
  std::vector<double> latencies;  // microseconds from just before the release until the waiter has the lock
  std::vector<double> cpu;        // microseconds of processor time that the waiter used for each wait
  unsigned late = 0;              // trials in which the waiter came after the section; they do not count
};

struct Section {
  bool asleep;
  unsigned microseconds;
};

template <class Semaphore>
class HandOver {
 public:
  HandOver(const Knobs& knobs, Section section) : semaphore_(1, knobs), section_(section) {}

  Trials run(unsigned trials) {
    std::thread waiter([&] { wait(trials); });
    for (unsigned trial = 1; trial <= trials; trial++) hold(trial);
    waiter.join();
    return trials_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds nap{100};

  void hold(unsigned trial) {
    const std::chrono::microseconds length(section_.microseconds);
    std::this_thread::sleep_for(nap);
    semaphore_.acquire();
    begin_ = Clock::now();
    trial_.store(trial);
    if (section_.asleep) {
      std::this_thread::sleep_for(length);
    } else {
      while (Clock::now() < begin_ + length) {
      }
    }
    unlock_ = Clock::now();
    semaphore_.release();
    while (done_.load() != trial) pauseBriefly();
  }

  void wait(unsigned trials) {
    std::mt19937 random{std::random_device{}()};
    std::uniform_real_distribution<double> share(0.1, 0.9);
    for (unsigned trial = 1; trial <= trials; trial++) {
      const std::chrono::duration<double, std::micro> after(section_.asleep ? 0 : share(random) * section_.microseconds);
      while (trial_.load() != trial) pauseBriefly();
      while (Clock::now() < begin_ + after) {
      }
      const double before = threadCpuMicroseconds();
      const Clock::time_point arrived = Clock::now();
      semaphore_.acquire();
      const Clock::time_point served = Clock::now();
      const double used = threadCpuMicroseconds() - before;
      semaphore_.release();
      if (arrived < unlock_) {
        trials_.latencies.push_back(std::chrono::duration<double, std::micro>(served - unlock_).count());
        trials_.cpu.push_back(used);
      } else {
        trials_.late++;
      }
      done_.store(trial);
    }
  }

  static double threadCpuMicroseconds() {
    timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) * 1e6 + static_cast<double>(used.tv_nsec) * 1e-3;
  }

  Semaphore semaphore_;
  const Section section_;
  Trials trials_;
  // The holder writes these. The waiter reads begin_ after trial_ has changed, and unlock_ after it has had the lock.
  alignas(sectorSize) Clock::time_point begin_;
  Clock::time_point unlock_;
  alignas(sectorSize) std::atomic<unsigned> trial_{0};
  alignas(sectorSize) std::atomic<unsigned> done_{0};
};
