// The capacitor of Dice, Capacitors, around a lock: a thread goes through a semaphore of B permits, takes the lock, and
// departs when it has given the lock back. The last of B departures gives all B permits back at once. So threads come to
// the lock in platoons of B, and at most B - 1 later threads get the lock before a waiter does, whatever the lock.
//
//   Listing 1    the semaphore is TicketFutex: all waiters wait on grant, and one step admits the next platoon
//   Listing 2    the semaphore is TwaFutex: waiters wait on the waiting array, and B posts admit the next platoon
//
// acquire() returns the capacitor's ticket, so --probe counts the exact bypass. Only one thread at a time gives permits
// back: the next platoon cannot complete before the last permit of this one is given back and used.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>

#include "futex.hpp"

#ifdef TAKETURNS_FUTEX

#include "lanes.hpp"
#include "semaphore.hpp"
#include "ticket-futex.hpp"
#include "twa-futex.hpp"

// What a thread goes through before the lock, and after it.
template <class Semaphore>
class Platoons {
 public:
  explicit Platoons(const Knobs& knobs)
      : bypass_(static_cast<unsigned>(knobs.bypass.value_or(defaultBypass))), semaphore_(bypass_, knobs) {}

  std::uint64_t arrive() { return semaphore_.acquire(); }

  void depart() {
    if (departed_.fetch_add(1) + 1 != bypass_) return;
    // All threads of the platoon have departed, and no other is inside.
    departed_.store(0, std::memory_order_release);
    semaphore_.release(bypass_);
  }

 private:
  static constexpr int defaultBypass = 10;  // as in the paper

  const unsigned bypass_;
  Semaphore semaphore_;
  alignas(sectorSize) std::atomic<unsigned> departed_{0};
};

// A ticket lock as the inner lock. The semaphore adds to grant atomically, because several threads may release it.
class TicketLock {
 public:
  static constexpr const char* name = "ticket-futex";

  explicit TicketLock(const Knobs& knobs) : semaphore_(1, knobs) {}

  void lock() { semaphore_.acquire(); }
  void unlock() { semaphore_.release(); }

 private:
  TicketFutex semaphore_;
};

// Lock in a capacitor; Form names the ending of the row.
template <class Lock, class Semaphore, class Form>
class Capacitor {
 public:
  static inline const std::string name = std::string(Lock::name) + "+" + Form::name;
  static constexpr bool spins = true;
  static constexpr bool hasThreshold = Semaphore::hasThreshold;
  static constexpr bool hasBypass = true;
  static constexpr bool onlyOnePermit = true;

  Capacitor(unsigned, const Knobs& knobs) : platoons_(knobs), lock_(knobs) {}

  std::uint64_t acquire() {
    const std::uint64_t ticket = platoons_.arrive();
    lock_.lock();
    return ticket;
  }

  void release() {
    lock_.unlock();
    platoons_.depart();
  }

 private:
  Platoons<Semaphore> platoons_;
  Lock lock_;
};

// The fractional bypass of the paper's section 5: a thread goes past the capacitor with the probability `--fraction`.
// Nothing bounds the bypass of a single wait, and those that go past have no ticket.
template <class Lock, class Semaphore>
class Fractional {
 public:
  static inline const std::string name = std::string(Lock::name) + "+fractional";
  static constexpr bool spins = true;
  static constexpr bool hasThreshold = Semaphore::hasThreshold;
  static constexpr bool hasBypass = true;
  static constexpr bool onlyOnePermit = true;
  static constexpr bool hasFraction = true;

  Fractional(unsigned, const Knobs& knobs)
      : limit_(static_cast<std::uint32_t>(std::ldexp(knobs.fraction.value_or(defaultFraction), 32))),
        platoons_(knobs),
        lock_(knobs) {}

  void acquire() {
    const bool past = draw() < limit_;
    if (!past) platoons_.arrive();
    lock_.lock();
    past_ = past;
  }

  void release() {
    const bool past = past_;
    lock_.unlock();
    if (!past) platoons_.depart();
  }

 private:
  static constexpr double defaultFraction = 0.99;  // as in the paper

  // xorshift32 of Marsaglia, one for each thread.
  static std::uint32_t draw() {
    static thread_local std::uint32_t state = std::random_device{}() | 1u;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
  }

  const std::uint32_t limit_;
  Platoons<Semaphore> platoons_;
  Lock lock_;
  bool past_ = false;  // whether the holder went past the capacitor; only the holder uses it
};

struct Listing1 {
  static constexpr const char* name = "ticketCapacitor";
};
struct Listing2 {
  static constexpr const char* name = "capacitor";
};
// The semaphore lets threads barge, which no capacitor may do: the control for the bound.
struct Barging {
  static constexpr const char* name = "bargingCapacitor";
};
struct InLanes {
  static constexpr const char* name = "lanes";
};

#endif
