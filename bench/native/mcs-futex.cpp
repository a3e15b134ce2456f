// The slow paths of McsFutex, kept out of the callers' loops.
#include "mcs-futex.hpp"

#ifdef TAKETURNS_FUTEX

#include <thread>

#include "pause.hpp"

void McsFutex::wait(Node& mine, Node& before) {
  before.next.store(&mine);
  for (int polls = spin_; polls > 0; polls--) {
    if (mine.state.load() == granted) return;
    pauseBriefly();
  }
  std::uint32_t seen = waiting;
  if (!mine.state.compare_exchange_strong(seen, parked)) return;
  while (mine.state.load() == parked) futexWait(&mine.state, parked);
}

void McsFutex::handOver(Node& mine) {
  Node* next;
  for (int polls = spin_; !(next = mine.next.load());) {
    if (polls > 0) {
      polls--;
      pauseBriefly();
    } else {
      std::this_thread::yield();
    }
  }
  // Once granted the node may be used anew: the wake-up needs no more than its address.
  if (next->state.exchange(granted) == parked) futexWakeAll(&next->state);
}

#endif
