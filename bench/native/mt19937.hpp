// The generator that threads step as their work.
#pragma once

#include <random>

#include "semaphore.hpp"

// That of the papers. Its words are 64 bits long in the C++ library of Linux. With words of 32 bits the compiler twists
// several at once, a step takes a third of the time, and the work is no longer what the rows in JavaScript do.
using Mt19937 = std::mt19937;

// The compiler must make every output, as the engine must in the rows in JavaScript.
inline void step(Mt19937& generator, unsigned count) {
  Mt19937::result_type outputs = 0;
  for (unsigned i = 0; i < count; i++) outputs ^= generator();
  keep(outputs);
}
