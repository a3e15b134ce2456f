// The interface of a semaphore in the benchmarks, and the few parts that all semaphores share.
//
// A semaphore is made from its permits and the knobs. It has acquire(), release() and a name. If acquire() returns a
// number, this number is the ticket of the acquire, so the order of admission can be checked exactly.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "pause.hpp"

// Two 64-byte lines: the prefetcher of x86 fetches lines in pairs.
inline constexpr std::size_t sectorSize = 128;

struct Knobs {
  std::optional<int> spin;       // pauses before parking; 0 = none
  std::optional<int> farSpin;    // the same for waiters further than the threshold
  std::optional<int> threshold;  // LongTermThreshold of Listing 2
  std::optional<int> bypass;     // the platoon of a capacitor
  std::optional<Pause> pause;    // how polling waiters pause
  std::optional<double> fraction;  // the share of arrivals that go past a capacitor
};

template <class S>
concept TicketSemaphore = requires(S semaphore) {
  { semaphore.acquire() } -> std::same_as<std::uint64_t>;
};

// Whether the row has one permit, whatever it is made with.
template <class S>
concept OnlyOnePermit = requires { requires S::onlyOnePermit; };

// Whether waiters poll with pauses.
template <class S>
concept Pauses = S::spins || requires { requires S::pauses; };

// A semaphore that lets all threads in at once. So in the section each thread steps a generator of its own, and not the
// shared one.
template <class S>
concept Apart = requires { S::apart; };

// Makes the compiler produce the value, although no code reads the value.
template <class T>
inline void keep(T value) {
  asm volatile("" : : "r"(value) : "memory");
}
