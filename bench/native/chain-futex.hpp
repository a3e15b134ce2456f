// The semaphore over waiting chains, Listing 3 of Dice and Kogan, Semaphores Augmented with a Waiting Array.
//
// A waiter pushes an element, which is on its stack, onto the chain of its ticket, and waits at the gate of the element.
// A release detaches the chain and opens the gate of the top element. Each woken waiter opens the gate below its own. The
// links of a chain are not in memory: a waiter learns by its push which element is below.
//
// No thread sleeps for ever: a waiter pushes and then reads grant, and a release moves grant and then detaches. A waiter
// whose turn has come after its push takes its element off again before it returns (recover).
#pragma once

#include "futex.hpp"

#ifdef TAKETURNS_FUTEX

#include "gate.hpp"
#include "semaphore.hpp"
#include "waiting-table.hpp"

template <class Orders>
struct alignas(sectorSize) ChainElement {
  Gate<Orders> gate;
};

template <class Orders>
using Chain = std::atomic<ChainElement<Orders>*>;

// Poke: wakes the top waiter of a detached chain, if there is one.
template <class Orders>
void poke(ChainElement<Orders>* element, int polls) {
  if (element != nullptr) element->gate.open(polls);
}

template <class Orders>
void addressSignal(Chain<Orders>& chain, int polls) {
  poke(chain.exchange(nullptr), polls);
}

// Takes the element off the chain, because the condition of its waiter holds already.
template <class Orders>
void recover(Chain<Orders>& chain, ChainElement<Orders>& element, ChainElement<Orders>* below, int polls) {
  ChainElement<Orders>* top = &element;
  if (chain.compare_exchange_strong(top, below)) return;
  if (top == nullptr) {
    // Another thread has detached the element, and opens its gate.
    poke(below, polls);
  } else if (element.gate.saysOpen()) {
    return poke(below, polls);
  } else {
    // Detach the newer elements before waking the older ones, which could come back on top of them.
    ChainElement<Orders>* const newer = chain.exchange(nullptr);
    poke(below, polls);
    poke(newer, polls);
  }
  element.gate.await(polls);
}

// With `lazy`, returns after one wake-up, whether the condition holds or not: the caller looks. Without, returns only
// when the condition holds.
template <bool lazy, class Orders, class Satisfied>
void addressWaitUntil(Chain<Orders>& chain, int polls, Satisfied satisfied) {
  do {
    if (satisfied()) return;
    ChainElement<Orders> element;
    ChainElement<Orders>* const below = chain.exchange(&element);
    if (satisfied()) return recover(chain, element, below, polls);
    element.gate.await(polls);
    poke(below, polls);
  } while (!lazy);
}

template <class Orders, bool lazy = false>
class ChainFutex {
 public:
  static constexpr const char* name = Orders::printed ? "chain-futex+printedOrders"
                                      : lazy          ? "chain-lazy-futex"
                                                      : "chain-futex";
  static constexpr bool spins = true;
  static constexpr bool hasThreshold = false;
  static constexpr int defaultSpin = 1000;

  ChainFutex(unsigned permits, const Knobs& knobs) : grant_(permits), spin_(knobs.spin.value_or(defaultSpin)) {}

  std::uint64_t acquire() {
    const std::uint64_t ticket = ticket_.fetch_add(1);
    if (grant_.load() <= ticket) [[unlikely]] wait(ticket);
    return ticket;
  }

  void release() { addressSignal(slotOf<Chain<Orders>>(this, grant_.fetch_add(1)), spin_); }

 private:
  [[gnu::noinline]] void wait(std::uint64_t ticket) {
    Chain<Orders>& chain = slotOf<Chain<Orders>>(this, ticket);
    const auto admitted = [&] { return grant_.load() > ticket; };
    do addressWaitUntil<lazy>(chain, spin_, admitted);
    while (lazy && !admitted());
  }

  alignas(sectorSize) std::atomic<std::uint64_t> ticket_{0};
  std::atomic<std::uint64_t> grant_;
  alignas(sectorSize) const int spin_;
};

#endif
