// The place where one thread waits: it polls a bounded number of times, then parks on a word of its own.
//
//   waiting ──► granted            by the granting thread
//   waiting ──► parked ──► granted
//
// No thread sleeps for ever: the waiter changes waiting to parked by compare-and-swap, and the exchange to granted
// tells the granting thread whether a thread parks here. A granted place may be used anew at once. So the wake-up uses
// only the address of the place. If a thread already parks at this place again, it wakes, sees that it is not granted,
// and sleeps on.
#pragma once

#include "futex.hpp"

#ifdef TAKETURNS_FUTEX

#include "pause.hpp"

class ParkingPlace {
 public:
  void prepare() { state_.store(waiting); }

  void await(int polls) {
    for (; polls > 0; spend(polls)) {
      if (state_.load() == granted) return;
      pauseBriefly();
    }
    std::uint32_t seen = waiting;
    if (!state_.compare_exchange_strong(seen, parked)) return;
    while (state_.load() == parked) futexWait(&state_, parked);
  }

  void grant() {
    if (state_.exchange(granted) == parked) futexWakeAll(&state_);
  }

 private:
  static constexpr std::uint32_t waiting = 0;
  static constexpr std::uint32_t parked = 1;
  static constexpr std::uint32_t granted = 2;

  std::atomic<std::uint32_t> state_;
};

#endif
