// The floor of contention: the loop of a benchmark in which no thread waits.
#pragma once

#include "semaphore.hpp"

class NoLock {
 public:
  static constexpr const char* name = "no-lock";
  static constexpr bool spins = false;
  static constexpr bool hasThreshold = false;
  static constexpr bool apart = true;

  NoLock(unsigned, const Knobs&) {}

  void acquire() {}
  void release() {}
};
