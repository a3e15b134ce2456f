// The records of --probe: the longest wait, the bypass of every admission and, if acquire() returns the ticket, the
// admissions out of ticket order. A loop without a probe is compiled separately and pays nothing.
//
// With one permit, an admitted thread is alone until it releases. It calls admitted() during this time, so admitted()
// needs no lock.
//
// The bypass of a waiter is the number of threads that came later than the waiter and were admitted first. With tickets
// the bypass is exact. Otherwise threads draw a stamp just before acquire(), and a thread that is preempted between
// stamp and acquire() counts as waiting.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "semaphore.hpp"

// The least bypass of each band in which admissions are counted: 0, 1, ... 15, then 16 to 99, 100 to 999, and so on. The
// last band has no upper end. bench/src/workers/bypass-bands.ts has the same bands.
inline constexpr std::array<std::uint64_t, 21> bandStarts{0,  1,  2,  3,  4,  5,  6,  7,   8,    9,     10,
                                                          11, 12, 13, 14, 15, 16, 100, 1000, 10000, 100000};

class Bypasses {
 public:
  void record(std::uint64_t bypass) {
    largest = std::max(largest, bypass);
    std::size_t band = std::min<std::uint64_t>(bypass, bands.size() - 1);
    while (bandStarts[band] > bypass) band--;
    bands[band]++;
  }

  std::uint64_t largest = 0;
  std::array<std::uint64_t, bandStarts.size()> bands{};
};

struct NoProbe {
  explicit NoProbe(unsigned) {}

  static constexpr bool records = false;
};

class TicketOrder {
 public:
  static constexpr bool records = true;

  explicit TicketOrder(unsigned) {}

  void arriving(unsigned) {}

  void admitted(unsigned, std::uint64_t ticket) {
    if (ticket != expected_) outOfOrder++;
    expected_ = ticket + 1;
    if (ticket > lowest_) {
      bypasses.record(static_cast<std::uint64_t>(std::distance(early_.upper_bound(ticket), early_.end())));
      early_.insert(ticket);
      return;
    }
    bypasses.record(early_.size());
    lowest_++;
    while (early_.erase(lowest_)) lowest_++;
  }

  Bypasses bypasses;
  std::uint64_t outOfOrder = 0;

 private:
  std::uint64_t expected_ = 0;
  std::uint64_t lowest_ = 0;       // the lowest ticket that has not been admitted
  std::set<std::uint64_t> early_;  // admitted tickets above lowest_: empty as long as admissions are in order
};

class ArrivalStamps {
 public:
  static constexpr bool records = true;

  explicit ArrivalStamps(unsigned threads) : waiters_(threads) {}

  void arriving(unsigned thread) { waiters_[thread].stamp.store(next_.fetch_add(1)); }

  void admitted(unsigned thread) {
    Waiter& mine = waiters_[thread];
    const std::uint64_t stamp = mine.stamp.load();
    mine.stamp.store(notWaiting);
    bypasses.record(std::exchange(mine.bypassed, 0));
    for (Waiter& other : waiters_) {
      if (other.stamp.load() < stamp) other.bypassed++;
    }
  }

  Bypasses bypasses;

 private:
  static constexpr std::uint64_t notWaiting = UINT64_MAX;

  struct alignas(sectorSize) Waiter {
    std::atomic<std::uint64_t> stamp{notWaiting};
    std::uint64_t bypassed = 0;  // only the admitted thread uses it
  };

  alignas(sectorSize) std::atomic<std::uint64_t> next_{0};
  alignas(sectorSize) std::vector<Waiter> waiters_;
};
