// The table of Listings 3 to 5 of Dice and Kogan, Semaphores Augmented with a Waiting Array: 4,096 slots, one table for
// all semaphores of a class. The hash goes on by 17 slots from ticket to ticket.
#pragma once

#include <cstdint>

template <class Slot>
Slot& slotOf(const void* semaphore, std::uint64_t ticket) {
  constexpr std::uint32_t count = 4096;
  alignas(4096) static Slot slots[count];
  const std::uintptr_t hash = reinterpret_cast<std::uintptr_t>(semaphore) + static_cast<std::uint32_t>(ticket) * 17u;
  return slots[hash % count];
}
