// Ticket-Semaphore, Listing 1 of Dice and Kogan, Semaphores Augmented with a Waiting Array.
//
// Ticket t is admitted once grant exceeds t. All waiters wait on grant: each polls it a bounded number of times, then
// parks on it. A release therefore wakes the whole herd, and all but one park again: this is the baseline for the
// waiting array.
//
// No thread sleeps for ever: a release moves grant and then reads ticket; a waiter has moved ticket before it reads
// grant. If the release finds no ticket beyond the old grant, a later waiter finds the new grant. If it finds one, it
// wakes, and the changed word keeps a waiter awake that is not asleep yet. The kernel compares only the low half of
// grant; for an error, a thread would have to stand still between its look at grant and the system call for exactly
// 2^32 releases.
#pragma once

#include "futex.hpp"

#ifdef TAKETURNS_FUTEX

#include "semaphore.hpp"

class TicketFutex {
 public:
  static constexpr const char* name = "ticket-futex";
  static constexpr bool spins = true;
  static constexpr bool hasThreshold = false;
  static constexpr int defaultSpin = 1000;

  TicketFutex(unsigned permits, const Knobs& knobs)
      : grant_(permits), spin_(knobs.spin.value_or(defaultSpin)) {}

  std::uint64_t acquire() {
    const std::uint64_t ticket = ticket_.fetch_add(1);
    if (grant_.load() <= ticket) [[unlikely]] wait(ticket);
    return ticket;
  }

  void release() {
    const std::uint64_t before = grant_.fetch_add(1);
    if (ticket_.load() > before) [[unlikely]] wakeAll();
  }

 private:
  void wait(std::uint64_t ticket);
  void wakeAll();

  // Both are on one line, since a release reads both words.
  alignas(sectorSize) std::atomic<std::uint64_t> ticket_{0};
  std::atomic<std::uint64_t> grant_;
  alignas(sectorSize) const int spin_;
};

#endif
