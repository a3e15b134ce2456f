// The MCS lock of Mellor-Crummey and Scott: each waiter parks at a place of its own.
//
//   tail ──► last node of the queue, or null while the lock is free
//   node     next: the node behind it, once that has linked itself
//
// An arrival exchanges itself into tail and links itself to the node that was there. The owner grants to the next node.
// If there is none, it swaps tail back to null. If another thread has just arrived, it waits for the link, which is two
// instructions away: it polls, and yields its processor if that does not help. The order is first come, first served.
//
// A node belongs to its thread: in this program a thread is in one such lock at a time.
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
