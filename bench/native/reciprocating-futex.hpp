// The Reciprocating Lock of Dice and Kogan: arrivals form a pile. The pile is detached as a whole and served from the
// top, while the next pile grows. Each waiter parks at a place of its own.
//
//   arrivals ──► null    the lock is free
//                held    the lock is held, and no thread has arrived since the last pile was detached
//                a node  the lock is held, and the thread of this node came last
//
// An arrival exchanges its node into arrivals. The node that it displaces is its successor. If it displaces `held` or
// null, it has no successor. The owner grants its successor, and passes on the mark of the pile's end. This mark is
// `held`, or the node of the thread that found the lock free: this node is at the bottom of the pile, but its thread
// has been served. A waiter whose successor is the mark is the last of its pile. Its unlock changes arrivals from the
// mark to null if no thread has arrived since. Otherwise it detaches the later arrivals and grants the latest.
//
// A later arrival overtakes a waiter at most once: only if both are in the same pile.
#pragma once

#include "futex.hpp"

#ifdef TAKETURNS_FUTEX

#include "parking-place.hpp"
#include "semaphore.hpp"

class alignas(sectorSize) ReciprocatingFutex {
 public:
  static constexpr const char* name = "reciprocating-futex";
  static constexpr bool spins = true;
  static constexpr int defaultSpin = 1000;

  explicit ReciprocatingFutex(const Knobs& knobs) : spin_(knobs.spin.value_or(defaultSpin)) {}

  void lock() {
    Node& mine = node_;
    mine.place.prepare();
    Node* const displaced = arrivals_.exchange(&mine);
    if (!displaced) {
      successor_ = nullptr;
      mark_ = &mine;
      return;
    }
    mine.place.await(spin_);
    const bool isLast = displaced == mine.mark;
    successor_ = isLast || displaced == &held_ ? nullptr : displaced;
    mark_ = isLast ? &held_ : mine.mark;
  }

  void unlock() {
    Node* next = successor_;
    Node* const mark = mark_;
    if (!next) {
      Node* seen = mark;
      if (arrivals_.compare_exchange_strong(seen, nullptr)) return;
      next = arrivals_.exchange(&held_);
    }
    next->mark = mark;
    next->place.grant();
  }

 private:
  struct alignas(sectorSize) Node {
    Node* mark;
    ParkingPlace place;
  };

  static inline Node held_;
  static inline thread_local Node node_;

  std::atomic<Node*> arrivals_{nullptr};
  // Only the owner uses these: the node of the next thread to serve, and the mark of the pile's end.
  Node* successor_ = nullptr;
  Node* mark_ = nullptr;
  alignas(sectorSize) const int spin_;
};

#endif
