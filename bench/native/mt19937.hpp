// The generator whose steps are the work of the threads.
#pragma once

#include <random>

#include "semaphore.hpp"

// This is the generator of the papers. Its words have 64 bits in the C++ library of Linux. With 32 bits the compiler
// would twist several words at once, and a step would take a third of the time. The work would then differ from that of
// the rows in JavaScript.
using Mt19937 = std::mt19937;

// The compiler must produce every output, as the runtime must in the rows in JavaScript.
inline void step(Mt19937& generator, unsigned count) {
  Mt19937::result_type outputs = 0;
  for (unsigned i = 0; i < count; i++) outputs ^= generator();
  keep(outputs);
}
