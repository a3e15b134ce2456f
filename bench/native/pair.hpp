// The uncontended pair: one thread acquires and releases in a tight loop. The process has a second thread, because
// glibc's pthread_mutex_lock omits the locked instruction in a process with one thread, and such a process needs no
// lock at all.
#pragma once

#include <chrono>
#include <cstdint>
#include <future>
#include <thread>

#include "semaphore.hpp"

template <class Semaphore>
double nanosecondsPerPair(double seconds, const Knobs& knobs) {
  using Clock = std::chrono::steady_clock;
  constexpr int batch = 10000;  // the clock is read once in a batch
  Semaphore semaphore(1, knobs);
  std::promise<void> measured;
  std::future<void> end = measured.get_future();
  std::thread other([&] { end.wait(); });
  const auto run = [&](double interval) {
    const Clock::time_point begin = Clock::now();
    std::uint64_t pairs = 0;
    double elapsed;
    do {
      for (int i = 0; i < batch; i++) {
        semaphore.acquire();
        semaphore.release();
      }
      pairs += batch;
      elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
    } while (elapsed < interval);
    return elapsed * 1e9 / static_cast<double>(pairs);
  };
  run(seconds / 10);  // warms caches, and raises the clock rate
  const double result = run(seconds);
  measured.set_value();
  other.join();
  return result;
}
