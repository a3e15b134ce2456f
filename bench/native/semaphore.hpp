// The interface of a semaphore in the benchmarks, and the little that all of them share.
//
// A semaphore is made from its permits and the knobs; it has acquire(), release() and a name. If acquire() returns a
// number, that is the ticket it took, and the order of admission can be checked exactly.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

// Two 64-byte lines: the prefetcher of x86 fetches lines in pairs.
inline constexpr std::size_t sectorSize = 128;

struct Knobs {
  std::optional<int> spin;       // pauses before parking; 0 = none
  std::optional<int> farSpin;    // the same for waiters further than the threshold
  std::optional<int> threshold;  // LongTermThreshold of Listing 2
};

template <class S>
concept TicketSemaphore = requires(S semaphore) {
  { semaphore.acquire() } -> std::same_as<std::uint64_t>;
};

// Lets all threads in at once: in the section each steps a generator of its own, not the shared one.
template <class S>
concept Apart = requires { S::apart; };

// Makes the compiler produce the value, though no code reads it.
template <class T>
inline void keep(T value) {
  asm volatile("" : : "r"(value) : "memory");
}
