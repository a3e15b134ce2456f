// The slow paths of McsFutex, kept out of the callers' loops.
#include "mcs-futex.hpp"

#ifdef TAKETURNS_FUTEX

#include <thread>

#include "pause.hpp"

void McsFutex::wait(Node& mine, Node& before) {
  before.next.store(&mine);
  mine.place.await(spin_);
}

void McsFutex::handOver(Node& mine) {
  Node* next;
  for (int polls = spin_; !(next = mine.next.load());) {
    if (polls > 0) {
      spend(polls);
      pauseBriefly();
    } else {
      std::this_thread::yield();
    }
  }
  next->place.grant();
}

#endif
