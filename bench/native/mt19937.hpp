// The generator that threads step as their work.
#pragma once

#include <cstdint>
#include <random>

#include "semaphore.hpp"

// The outputs of std::mt19937, whose words the C++ library of Linux makes 64 bits long. Words of 32 bits, as the rows in
// JavaScript have them, take a third of the time a step.
using Mt19937 = std::mersenne_twister_engine<std::uint32_t, 32, 624, 397, 31, 0x9908b0df, 11, 0xffffffff, 7,
                                             0x9d2c5680, 15, 0xefc60000, 18, 1812433253>;

// The compiler must make every output, as the engine must in the rows in JavaScript.
inline void step(Mt19937& generator, unsigned count) {
  std::uint32_t outputs = 0;
  for (unsigned i = 0; i < count; i++) outputs ^= generator();
  keep(outputs);
}
