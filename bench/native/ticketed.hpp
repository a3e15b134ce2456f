// A semaphore whose acquire takes a ticket first, which the semaphore does not know. So --probe counts by ticket how far
// the admissions are from first come, first served: the control for the semaphores that promise this order.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "semaphore.hpp"

template <class Semaphore>
class Ticketed {
 public:
  static inline const std::string name = std::string(Semaphore::name) + "+ticket";
  static constexpr bool spins = Semaphore::spins;
  static constexpr bool hasThreshold = Semaphore::hasThreshold;

  Ticketed(unsigned permits, const Knobs& knobs) : semaphore_(permits, knobs) {}

  std::uint64_t acquire() {
    const std::uint64_t ticket = ticket_.fetch_add(1);
    semaphore_.acquire();
    return ticket;
  }

  void release(unsigned permits = 1) {
    for (unsigned i = 0; i < permits; i++) semaphore_.release();
  }

 private:
  alignas(sectorSize) std::atomic<std::uint64_t> ticket_{0};
  Semaphore semaphore_;
};
