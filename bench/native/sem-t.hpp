// sem_t of the C library. It admits the first thread that comes to a free permit. So threads barge, and there is no
// order. macOS has no unnamed sem_t that works, so the row is left out on macOS.
#pragma once

#ifndef __APPLE__
#define TAKETURNS_SEM_T 1

#include <cerrno>
#include <semaphore.h>

#include "semaphore.hpp"

class alignas(sectorSize) SemT {
 public:
  static constexpr const char* name = "sem_t";
  static constexpr bool spins = false;
  static constexpr bool hasThreshold = false;

  SemT(unsigned permits, const Knobs&) { sem_init(&semaphore_, 0, permits); }
  ~SemT() { sem_destroy(&semaphore_); }
  SemT(const SemT&) = delete;

  void acquire() {
    // A signal ends the wait without a permit.
    while (sem_wait(&semaphore_) != 0 && errno == EINTR) {
    }
  }
  void release() { sem_post(&semaphore_); }

 private:
  sem_t semaphore_;
};

#endif
