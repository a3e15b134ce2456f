// std::counting_semaphore as the standard library at hand implements it. Barging, no order.
#pragma once

#include <semaphore>

#include "semaphore.hpp"

class alignas(sectorSize) CountingSemaphore {
 public:
  static constexpr const char* name = "std::counting_semaphore";
  static constexpr bool spins = false;
  static constexpr bool hasThreshold = false;

  CountingSemaphore(unsigned permits, const Knobs&) : semaphore_(permits) {}

  void acquire() { semaphore_.acquire(); }
  void release() { semaphore_.release(); }

 private:
  std::counting_semaphore<> semaphore_;
};
