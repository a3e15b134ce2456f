// The rows of the benchmarks by name, and the parts of a command that depend on the name.
#pragma once

#include <iomanip>
#include <ostream>
#include <string>

#include "arguments.hpp"
#include "benaphore.hpp"
#include "capacitor.hpp"
#include "clh-futex.hpp"
#include "counting-semaphore.hpp"
#include "lifo-futex.hpp"
#include "mcs-futex.hpp"
#include "one-permit.hpp"
#include "pthread-mutex.hpp"
#include "reciprocating-futex.hpp"
#include "sem-t.hpp"
#include "ticket-futex.hpp"
#include "ticket-store-futex.hpp"
#include "tts-futex.hpp"
#include "twa-futex.hpp"

template <class... Semaphores>
struct Rows {};

// The names are in the order in which `list` gives them.
using Algorithms = Rows<
#ifdef TAKETURNS_SEM_T
    SemT, Benaphore,
#endif
#ifdef TAKETURNS_FUTEX
    TicketFutex, TwaFutex, OnePermit<TtsFutex>, OnePermit<McsFutex>, OnePermit<ClhFutex>,
    OnePermit<LifoFutex>, OnePermit<ReciprocatingFutex>, OnePermit<TicketStoreFutex>,
    Capacitor<TtsFutex, TicketFutex, Listing1>, Capacitor<TtsFutex, TwaFutex, Listing2>,
    Capacitor<TtsFutex, Lanes<TwaFutex>, InLanes>, Fractional<TtsFutex, TwaFutex>,
    Capacitor<TicketLock, TicketFutex, Listing1>, Capacitor<TicketLock, TwaFutex, Listing2>,
    Capacitor<TicketLock, Lanes<TwaFutex>, InLanes>, Fractional<TicketLock, TwaFutex>,
    Capacitor<McsFutex, TicketFutex, Listing1>, Capacitor<McsFutex, TwaFutex, Listing2>,
    Capacitor<McsFutex, Lanes<TwaFutex>, InLanes>, Fractional<McsFutex, TwaFutex>,
#endif
    OnePermit<PthreadMutex>,
    CountingSemaphore>;

template <class T>
struct Row {
  using Semaphore = T;
};

// Calls `action` with the row of this name. Returns false if no row has this name.
template <class Action, class... Semaphores>
bool withRow(Rows<Semaphores...>, const std::string& name, Action action) {
  return ((name == Semaphores::name && (action(Row<Semaphores>{}), true)) || ...);
}

template <class... Semaphores>
std::string namesOf(Rows<Semaphores...>) {
  std::string names;
  ((names += (names.empty() ? "\"" : ",\"") + std::string(Semaphores::name) + '"'), ...);
  return names;
}

[[noreturn]] inline void noSuchAlgorithm(const std::string& name) {
  throw BadArguments("no algorithm '" + name + "' here; there are " + namesOf(Algorithms{}));
}

template <class Semaphore>
concept HasBypass = requires { Semaphore::hasBypass; } && Semaphore::hasBypass;

template <class Semaphore>
concept HasFraction = requires { Semaphore::hasFraction; } && Semaphore::hasFraction;

template <class Semaphore>
void checkKnobs(const Knobs& knobs) {
  if (knobs.spin && !Semaphore::spins) throw BadArguments(std::string(Semaphore::name) + " has no --spin");
  if ((knobs.threshold || knobs.farSpin) && !Semaphore::hasThreshold) {
    throw BadArguments(std::string(Semaphore::name) + " has no --threshold and no --far-spin");
  }
  if (knobs.bypass && !HasBypass<Semaphore>) throw BadArguments(std::string(Semaphore::name) + " has no --bypass");
  if (knobs.fraction && !HasFraction<Semaphore>) throw BadArguments(std::string(Semaphore::name) + " has no --fraction");
}

template <class Numbers>
void printAll(std::ostream& out, const Numbers& numbers) {
  out << '[';
  const char* separator = "";
  for (const auto number : numbers) {
    out << separator << number;
    separator = ",";
  }
  out << ']';
}
