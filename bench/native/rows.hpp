// The rows of the benchmarks by name, and the parts of a command that depend on the name.
#pragma once

#include <iomanip>
#include <ostream>
#include <string>

#include "arguments.hpp"
#include "atomic-wait.hpp"
#include "benaphore.hpp"
#include "capacitor.hpp"
#include "chain-futex.hpp"
#include "channel-futex.hpp"
#include "clh-futex.hpp"
#include "counting-semaphore.hpp"
#include "lanes.hpp"
#include "lifo-futex.hpp"
#include "location-futex.hpp"
#include "mcs-futex.hpp"
#include "one-permit.hpp"
#include "p0514.hpp"
#include "pthread-mutex.hpp"
#include "reciprocating-futex.hpp"
#include "sem-t.hpp"
#include "ticket-futex.hpp"
#include "ticket-store-futex.hpp"
#include "ticketed.hpp"
#include "tts-exchange.hpp"
#include "tts-futex.hpp"
#include "twa-futex.hpp"

template <class... Semaphores>
struct Rows {};

// The names are in the order in which `list` gives them.
using Algorithms = Rows<
#ifdef TAKETURNS_SEM_T
    SemT, Benaphore, Ticketed<SemT>,
#endif
#ifdef TAKETURNS_FUTEX
    TicketFutex, TwaFutex, OnePermit<TtsFutex>, OnePermit<McsFutex>, OnePermit<ClhFutex>,
    OnePermit<LifoFutex>, OnePermit<ReciprocatingFutex>, OnePermit<TicketStoreFutex>,
    Capacitor<TtsFutex, TicketFutex, Listing1>, Capacitor<TtsFutex, TwaFutex, Listing2>,
    Capacitor<TtsFutex, Ticketed<SemT>, Barging>, Capacitor<TtsFutex, Lanes<TwaFutex>, InLanes>, Fractional<TtsFutex, TwaFutex>,
    Capacitor<TicketLock, TicketFutex, Listing1>, Capacitor<TicketLock, TwaFutex, Listing2>,
    Capacitor<TicketLock, Lanes<TwaFutex>, InLanes>, Fractional<TicketLock, TwaFutex>,
    Capacitor<McsFutex, TicketFutex, Listing1>, Capacitor<McsFutex, TwaFutex, Listing2>,
    Capacitor<McsFutex, Lanes<TwaFutex>, InLanes>, Fractional<McsFutex, TwaFutex>,
    Capacitor<TtsExchange<SequentialOrders>, TwaFutex, Listing2>,
    Capacitor<TtsExchange<PrintedOrders>, TwaFutex, Listing2>,
    TwaNearLoop, Lanes<TicketFutex>, Lanes<TwaFutex>,
    ChainFutex<SequentialOrders>, ChainFutex<PrintedOrders>, ChainFutex<SequentialOrders, true>,
    ChannelFutex<OverChains<SequentialOrders>>, ChannelFutex<OverChains<PrintedOrders>>,
    ChannelFutex<Lazily>, ChannelFutex<OverSequences>,
    LocationFutex<SequentialOrders>, LocationFutex<PrintedOrders>,
    P0514OneWord, P0514TwoWords,
#endif
#ifdef TAKETURNS_P0514_REFERENCE
    P0514Reference<std::experimental::binary_semaphore, ReferenceBinary>,
    P0514Reference<std::experimental::counting_semaphore, ReferenceCounting>,
#endif
    OnePermit<TtsExchange<SequentialOrders>>, OnePermit<TtsExchange<PrintedOrders>>,
    OnePermit<PthreadMutex>, OnePermit<AtomicWait>,
    CountingSemaphore, Ticketed<CountingSemaphore>>;

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
  if (knobs.pause && !Pauses<Semaphore>) throw BadArguments(std::string(Semaphore::name) + " has no --pause");
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
