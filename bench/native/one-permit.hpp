// A lock for the benchmarks: a semaphore with one permit.
#pragma once

#include "semaphore.hpp"

template <class Lock>
class OnePermit {
 public:
  static constexpr const char* name = Lock::name;
  static constexpr bool spins = Lock::spins;
  static constexpr bool onlyOnePermit = true;
  static constexpr bool pauses = Pauses<Lock>;
  static constexpr bool hasThreshold = false;

  OnePermit(unsigned, const Knobs& knobs) : lock_(knobs) {}

  void acquire() { lock_.lock(); }
  void release() { lock_.unlock(); }

 private:
  Lock lock_;
};
