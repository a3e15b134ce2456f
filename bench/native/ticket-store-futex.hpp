// The ticket lock whose holder writes grant by a plain store, as a lock may: nobody else writes grant. TicketFutex, which
// is a semaphore, adds to grant by a locked instruction.
//
// If waiters spin for ever, the store has release order, as in the papers' listings. If waiters park, the unlock must
// see their tickets after its store, so the store is sequentially consistent; on x86 such a store is a locked
// instruction again.
#pragma once

#include "futex.hpp"

#ifdef TAKETURNS_FUTEX

#include "pause.hpp"
#include "semaphore.hpp"

class TicketStoreFutex {
 public:
  static constexpr const char* name = "ticket-store-futex";
  static constexpr bool spins = true;
  static constexpr int defaultSpin = 1000;

  explicit TicketStoreFutex(const Knobs& knobs) : spin_(knobs.spin.value_or(defaultSpin)) {}

  void lock() {
    const std::uint32_t ticket = ticket_.fetch_add(1);
    for (int polls = spin_;;) {
      const std::uint32_t grant = grant_.load(std::memory_order_acquire);
      if (grant == ticket) return;
      if (polls > 0) {
        spend(polls);
        pauseBriefly();
      } else {
        futexWait(&grant_, grant);
      }
    }
  }

  void unlock() {
    const std::uint32_t next = grant_.load(std::memory_order_relaxed) + 1;
    if (spin_ == spinsForEver) return grant_.store(next, std::memory_order_release);
    grant_.store(next);
    if (ticket_.load() != next) [[unlikely]] futexWakeAll(&grant_);
  }

 private:
  // Both words are in one cache line, as those of TicketFutex.
  alignas(sectorSize) std::atomic<std::uint32_t> ticket_{0};
  std::atomic<std::uint32_t> grant_{0};
  alignas(sectorSize) const int spin_;
};

#endif
