// The floor of an uncontended pair: two locked instructions on two words of one line, and nothing else.
#pragma once

#include <atomic>
#include <cstdint>

#include "semaphore.hpp"

class TwoLockedInstructions {
 public:
  static constexpr const char* name = "two-locked-instructions";
  static constexpr bool spins = false;
  static constexpr bool hasThreshold = false;

  TwoLockedInstructions(unsigned permits, const Knobs&) : second_(permits) {}

  void acquire() { first_.fetch_add(1); }
  void release() { second_.fetch_add(1); }

 private:
  alignas(sectorSize) std::atomic<std::uint64_t> first_{0};
  std::atomic<std::uint64_t> second_;
};
