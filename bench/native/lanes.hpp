// A semaphore of four lanes, each a semaphore of its own: arrivals take the lanes in turn, and so do permits. Source:
// Dice, Capacitors, section 5 and the notes of Listing 2.
//
// The ticket of an admission is the place in the order in which the lanes admit threads. A thread that stops between its
// choice of a lane and the lane's ticket is like a thread that stops before the ticket of any semaphore: the order counts
// from the ticket.
#pragma once

#include "futex.hpp"

#ifdef TAKETURNS_FUTEX

#include <string>

#include "semaphore.hpp"

template <class Semaphore>
class Lanes {
 public:
  static inline const std::string name = std::string("lanes of ") + Semaphore::name;
  static constexpr bool spins = true;
  // With more permits several threads would release at a time. A capacitor has one such thread.
  static constexpr bool onlyOnePermit = true;
  static constexpr bool hasThreshold = Semaphore::hasThreshold;

  Lanes(unsigned permits, const Knobs& knobs)
      : lanes_{Semaphore(permitsOf(permits, 0), knobs), Semaphore(permitsOf(permits, 1), knobs),
               Semaphore(permitsOf(permits, 2), knobs), Semaphore(permitsOf(permits, 3), knobs)},
        released_(permits) {}

  std::uint64_t acquire() {
    const std::uint64_t lane = next_.fetch_add(1) % count;
    return lanes_[lane].acquire() * count + lane;
  }

  // One thread at a time calls release. With the last permit the next call may begin, in another thread, so released_ is
  // written before.
  void release(unsigned permits = 1) {
    const std::uint64_t first = released_;
    released_ += permits;
    for (std::uint64_t permit = first; permit < first + permits; permit++) lanes_[permit % count].release();
  }

 private:
  static constexpr std::uint64_t count = 4;

  static unsigned permitsOf(unsigned permits, unsigned lane) {
    return static_cast<unsigned>((permits + count - 1 - lane) / count);
  }

  alignas(sectorSize) std::atomic<std::uint64_t> next_{0};
  alignas(sectorSize) Semaphore lanes_[count];
  alignas(sectorSize) std::uint64_t released_;
};

#endif
