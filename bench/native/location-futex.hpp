// The semaphore over locations, Listing 5 of Dice and Kogan, Semaphores Augmented with a Waiting Array.
//
// Each thread has one element. The first call of wait for a location pushes it and returns, so that the caller looks at
// its condition again. The next call waits at the gate of the element. A thread that need not wait after all leaves its
// element behind. So nobody may rely on the thread of an element to wake those below: whoever detaches a chain opens all
// gates, and the elements have links. A thread that wants its element for another location first detaches the chain that
// it is on.
//
// No thread sleeps for ever: a waiter pushes and then reads grant, and a release moves grant and then detaches.
#pragma once

#include "futex.hpp"

#ifdef TAKETURNS_FUTEX

#include "gate.hpp"
#include "semaphore.hpp"
#include "waiting-table.hpp"

template <class Orders>
class Location {
 public:
  void wait(int polls) {
    Element& mine = ofThisThread();
    if (mine.where == this) {
      mine.gate.await(polls);
      mine.where = nullptr;
      return;
    }
    mine.takeOff(polls);
    mine.where = this;
    mine.gate.shut();
    // Most chains are empty, so the first guess is that this one is.
    Element* above = nullptr;
    do mine.below.store(above, Orders::store);
    while (!top_.compare_exchange_strong(above, &mine));
  }

  void wakeAll(int polls) {
    for (Element* next = top_.exchange(nullptr); next != nullptr;) {
      Element* const each = next;
      // With an open gate the element may be gone.
      next = each->below.load();
      each->gate.open(polls);
    }
  }

 private:
  struct alignas(sectorSize) Element {
    Gate<Orders> gate;
    Location* where = nullptr;  // only the thread of the element uses it
    int waited = spinsForEver;  // the budget of its last wait
    std::atomic<Element*> below{nullptr};

    ~Element() { takeOff(waited); }

    void takeOff(int polls) {
      waited = polls;
      if (where != nullptr && !gate.saysOpen()) {
        where->wakeAll(polls);
        gate.await(polls);
      }
      where = nullptr;
    }
  };

  static Element& ofThisThread() {
    static thread_local Element element;
    return element;
  }

  std::atomic<Element*> top_{nullptr};
};

template <class Orders>
class LocationFutex {
 public:
  static constexpr const char* name = Orders::printed ? "location-futex+printedOrders" : "location-futex";
  static constexpr bool spins = true;
  static constexpr bool hasThreshold = false;
  static constexpr int defaultSpin = 1000;

  LocationFutex(unsigned permits, const Knobs& knobs) : grant_(permits), spin_(knobs.spin.value_or(defaultSpin)) {}

  std::uint64_t acquire() {
    const std::uint64_t ticket = ticket_.fetch_add(1);
    if (grant_.load() <= ticket) [[unlikely]] wait(ticket);
    return ticket;
  }

  void release() {
    const std::uint64_t before = grant_.fetch_add(1);
    // The short-cut: nobody has taken the ticket that is admitted now.
    if (ticket_.load() > before) [[unlikely]] slotOf<Location<Orders>>(this, before).wakeAll(spin_);
  }

 private:
  [[gnu::noinline]] void wait(std::uint64_t ticket) {
    Location<Orders>& location = slotOf<Location<Orders>>(this, ticket);
    while (grant_.load() <= ticket) location.wait(spin_);
  }

  alignas(sectorSize) std::atomic<std::uint64_t> ticket_{0};
  std::atomic<std::uint64_t> grant_;
  alignas(sectorSize) const int spin_;
};

#endif
