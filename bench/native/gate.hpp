// The gate of a waiter of Listings 3 to 5: the waiter polls its gate, then parks on it, until another thread opens it.
// If waiters spin for ever, a gate is opened by a plain store, as the listings print it. Otherwise it is opened by an
// exchange, which says whether a waiter is parked.
//
//   shut ──► open              no thread sleeps for ever: the waiter changes shut to parked by compare-and-swap, so it
//   shut ──► parked ──► open   parks only on a gate that is shut, and whoever opens the gate sees that it is parked
//
// An open gate may be gone at once, since its waiter returns. So the wake-up uses only the address.
#pragma once

#include "futex.hpp"

#ifdef TAKETURNS_FUTEX

#include "orders.hpp"
#include "pause.hpp"

template <class Orders>
class Gate {
 public:
  void shut() { state_.store(isShut, Orders::store); }
  bool saysOpen() const { return state_.load(Orders::load) == isOpen; }

  void await(int polls) {
    for (; polls > 0; spend(polls)) {
      if (saysOpen()) return;
      pauseBriefly();
    }
    std::uint32_t seen = isShut;
    if (!state_.compare_exchange_strong(seen, isParked)) return;
    while (state_.load() == isParked) futexWait(&state_, isParked);
  }

  // `polls` is the budget of the waiters.
  void open(int polls) {
    if (polls == spinsForEver) return state_.store(isOpen, Orders::store);
    if (state_.exchange(isOpen) == isParked) futexWakeAll(&state_);
  }

 private:
  static constexpr std::uint32_t isShut = 0, isOpen = 1, isParked = 2;

  std::atomic<std::uint32_t> state_{isShut};
};

#endif
