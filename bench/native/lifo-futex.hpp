// A lock that admits the latest arrival: waiters are a stack, and each parks at a place of its own.
//
//   top ──► null    the lock is free
//           held    the lock is held, and no thread waits
//           a node  the lock is held, and the thread of this node came last
//
// An arrival replaces null by `held`, or pushes its node. An unlock pops the top node and grants it, or replaces `held`
// by null. Only the owner pops, so no other thread can pop the top node and push it again before the compare-and-swap
// of the owner.
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

  // A thread waits, and only the owner takes nodes away. So `seen` is a node.
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
