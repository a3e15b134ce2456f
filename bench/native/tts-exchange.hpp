// The inner lock of the capacitor's listings as they print it: an exchange takes the lock, waiters spin for ever on
// loads, and a plain store gives the lock back. So the memory orders matter, unlike in TtsFutex, whose waiters park.
#pragma once

#include "orders.hpp"
#include "pause.hpp"
#include "semaphore.hpp"

template <class Orders>
class alignas(sectorSize) TtsExchange {
 public:
  static constexpr const char* name = Orders::printed ? "tts-exchange+printedOrders" : "tts-exchange";
  static constexpr bool spins = false;  // it has no budget: it always spins
  static constexpr bool pauses = true;

  explicit TtsExchange(const Knobs&) {}

  void lock() {
    while (word_.exchange(1) != 0) {
      while (word_.load(Orders::load) != 0) pauseBriefly();
    }
  }

  void unlock() { word_.store(0, Orders::store); }

 private:
  std::atomic<int> word_{0};
};
