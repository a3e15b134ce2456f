// A lock that admits the latest arrival: waiters are a stack, and each parks at a place of its own.
//
//   top ──► null: free; `held`: held without a waiter; a node: held, and that waiter came last
//
// An arrival swaps null for `held`, or pushes its node. The owner pops the top node and grants there, or swaps `held`
// for null. Only the owner pops, so no thread can take away the node on top and push it again before the owner's
// compare-and-swap.
#pragma once

#include "futex.hpp"

#ifdef TAKETURNS_FUTEX

#include "parking-place.hpp"
#include "semaphore.hpp"

class alignas(sectorSize) LifoFutex {
 public:
  static constexpr const char* name = "lifo-futex";
  static constexpr bool spins = true;
  static constexpr int defaultSpin = 1000;

  explicit LifoFutex(const Knobs& knobs) : spin_(knobs.spin.value_or(defaultSpin)) {}

  void lock() {
    Node* seen = nullptr;
    if (!top_.compare_exchange_strong(seen, &held_)) [[unlikely]] push(seen);
  }

  void unlock() {
    Node* seen = &held_;
    if (!top_.compare_exchange_strong(seen, nullptr)) [[unlikely]] pop(seen);
  }

 private:
  struct alignas(sectorSize) Node {
    Node* below;
    ParkingPlace place;
  };

  void push(Node* seen) {
    Node& mine = node_;
    for (;;) {
      if (!seen) {
        if (top_.compare_exchange_weak(seen, &held_)) return;
        continue;
      }
      mine.below = seen;
      mine.place.prepare();
      if (top_.compare_exchange_weak(seen, &mine)) break;
    }
    mine.place.await(spin_);
  }

  // There is a waiter, and only the owner takes nodes away, so seen is a node.
  void pop(Node* seen) {
    while (!top_.compare_exchange_weak(seen, seen->below)) {
    }
    seen->place.grant();
  }

  static inline Node held_;
  static inline thread_local Node node_;

  std::atomic<Node*> top_{nullptr};
  alignas(sectorSize) const int spin_;
};

#endif
