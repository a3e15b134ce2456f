// The CLH lock of Craig, and of Landin and Hagersten: each waiter parks at the place of its predecessor.
//
//   tail ──► node of the latest arrival; granted while the lock is free
//
// An arrival exchanges its node into tail and waits at the node that was there. Once this old node is granted, the
// arrival owns the lock. It keeps the old node for its next arrival, since no other thread looks at this node any more.
// An unlock grants the owner's node. The order is first come, first served.
//
// Nodes move from thread to thread. So no thread may destroy a node when it ends, and nodes stay until the end of the
// process.
#pragma once

#include "futex.hpp"

#ifdef TAKETURNS_FUTEX

#include "parking-place.hpp"
#include "semaphore.hpp"

class alignas(sectorSize) ClhFutex {
 public:
  static constexpr const char* name = "clh-futex";
  static constexpr bool spins = true;
  static constexpr int defaultSpin = 1000;

  explicit ClhFutex(const Knobs& knobs) : tail_(new Node), spin_(knobs.spin.value_or(defaultSpin)) {
    tail_.load()->place.grant();
  }

  void lock() {
    if (!spare_) [[unlikely]] spare_ = new Node;
    Node* const mine = spare_;
    mine->place.prepare();
    Node* const before = tail_.exchange(mine);
    before->place.await(spin_);
    spare_ = before;
    owner_ = mine;
  }

  void unlock() { owner_->place.grant(); }

 private:
  struct alignas(sectorSize) Node {
    ParkingPlace place;
  };

  static inline thread_local Node* spare_ = nullptr;

  std::atomic<Node*> tail_;
  Node* owner_ = nullptr;  // used by the owner alone
  alignas(sectorSize) const int spin_;
};

#endif
