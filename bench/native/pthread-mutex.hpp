// pthread_mutex_t of the C library, in its default form. It lets threads barge, and has no order.
#pragma once

#include <pthread.h>

#include "semaphore.hpp"

class alignas(sectorSize) PthreadMutex {
 public:
  static constexpr const char* name = "pthread_mutex";
  static constexpr bool spins = false;

  explicit PthreadMutex(const Knobs&) {}
  ~PthreadMutex() { pthread_mutex_destroy(&mutex_); }
  PthreadMutex(const PthreadMutex&) = delete;

  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};
