// The MCS lock of Mellor-Crummey and Scott: each waiter parks at a place of its own.
//
//   tail ──► last node of the queue, or null while the lock is free
//   next     in each node: the node behind it, once the thread of that node has linked the two
//
// An arrival exchanges its node into tail and links it to the node that was there. An unlock grants the next node. If
// there is no next node, the unlock swaps tail back to null. If tail shows that another thread has just arrived, the
// unlock waits for the link, which comes two instructions after the exchange. It polls for the link, and yields its
// processor if polling does not help. The order is first come, first served.
//
// Each thread has one node, since in this program a thread is in one such lock at a time.
#pragma once

#include "futex.hpp"

#ifdef TAKETURNS_FUTEX

#include "parking-place.hpp"
#include "semaphore.hpp"

class alignas(sectorSize) McsFutex {
 public:
  static constexpr const char* name = "mcs-futex";
  static constexpr bool spins = true;
  static constexpr int defaultSpin = 1000;

  explicit McsFutex(const Knobs& knobs) : spin_(knobs.spin.value_or(defaultSpin)) {}

  void lock() {
    Node& mine = node_;
    mine.next.store(nullptr);
    mine.place.prepare();
    Node* const before = tail_.exchange(&mine);
    if (before) [[unlikely]] wait(mine, *before);
  }

  void unlock() {
    Node& mine = node_;
    Node* expected = &mine;
    if (!mine.next.load() && tail_.compare_exchange_strong(expected, nullptr)) return;
    handOver(mine);
  }

 private:
  struct alignas(sectorSize) Node {
    std::atomic<Node*> next;
    ParkingPlace place;
  };

  void wait(Node& mine, Node& before);
  void handOver(Node& mine);

  static inline thread_local Node node_;

  std::atomic<Node*> tail_{nullptr};
  alignas(sectorSize) const int spin_;
};

#endif
