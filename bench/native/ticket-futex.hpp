// Ticket-Semaphore, Listing 1 of Dice and Kogan, Semaphores Augmented with a Waiting Array.
//
// Ticket t is admitted once grant exceeds t. All waiters wait on grant: each waiter polls grant a bounded number of
// times, then parks on it. So a release wakes all waiters, and all but one park again. This semaphore is the baseline
// for the waiting array. If the waiters spin for ever, a release only adds to grant, as in the listing.
//
// No thread sleeps for ever: a release moves grant and then reads ticket, and a waiter has moved ticket before it reads
// grant. If the release finds no ticket beyond the old grant, a later waiter finds the new grant. If the release finds
// such a ticket, it wakes all sleepers, and a waiter that is not asleep yet does not fall asleep, because the word has
// changed. The kernel compares only the low half of grant. This would go wrong only if a thread stood still, between
// its look at grant and the system call, for exactly 2^32 releases.
#pragma once

#include "futex.hpp"

#ifdef TAKETURNS_FUTEX

#include "pause.hpp"
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

  void release(std::uint64_t permits = 1) {
    const std::uint64_t before = grant_.fetch_add(permits);
    if (spin_ != spinsForEver && ticket_.load() > before) [[unlikely]] wakeAll();
  }

 private:
  void wait(std::uint64_t ticket);
  void wakeAll();

  // Both words are in one cache line, since a release reads both.
  alignas(sectorSize) std::atomic<std::uint64_t> ticket_{0};
  std::atomic<std::uint64_t> grant_;
  alignas(sectorSize) const int spin_;
};

#endif
