// The commands semabench and mutexbench: finds the row, runs it, and prints its counts.
#pragma once

#include <ostream>
#include <string>
#include <type_traits>

#include "contention.hpp"
#include "no-lock.hpp"
#include "rows.hpp"

using ContentionFloors = Rows<NoLock>;

template <class Semaphore, class Steps>
ContentionResult contention(const Arguments& arguments, Steps steps) {
  checkKnobs<Semaphore>(arguments.knobs);
  if (!arguments.probe) {
    return Contention<Semaphore, NoProbe, Steps>(arguments.threads, arguments.knobs, steps).run(arguments.seconds);
  }
  if constexpr (Apart<Semaphore>) {
    throw BadArguments(std::string(Semaphore::name) + " has no --probe");
  } else {
    using Probe = std::conditional_t<TicketSemaphore<Semaphore>, TicketOrder, ArrivalStamps>;
    return Contention<Semaphore, Probe, Steps>(arguments.threads, arguments.knobs, steps).run(arguments.seconds);
  }
}

inline void print(std::ostream& out, const Arguments& arguments, const ContentionResult& result) {
  out << "{\"algorithm\":\"" << arguments.algorithm << "\",\"threads\":" << arguments.threads
      << ",\"seconds\":" << result.seconds << ",\"iterations\":";
  printAll(out, result.iterations);
  out << ",\"parts\":{\"seconds\":";
  printAll(out, result.partSeconds);
  out << ",\"iterations\":";
  printAll(out, result.partIterations);
  out << '}';
  out << ",\"cpuSeconds\":" << result.cpuSeconds;
  if (result.longestWaitMs) out << ",\"longestWaitMs\":" << *result.longestWaitMs;
  if (result.bypasses) {
    out << ",\"largestBypass\":" << result.bypasses->largest << ",\"bypasses\":";
    printAll(out, result.bypasses->bands);
  }
  if (result.outOfOrder) out << ",\"outOfOrder\":" << *result.outOfOrder;
  out << '}';
}

// Runs the row with the steps of the papers, which are constants, or with those of the arguments.
template <class Steps>
void contend(std::ostream& out, const Arguments& arguments, Steps own) {
  const auto run = [&]<class R>(R) {
    using Semaphore = typename R::Semaphore;
    if (!arguments.inside && !arguments.outside) return print(out, arguments, contention<Semaphore>(arguments, own));
    const Work told{arguments.inside.value_or(Steps::inside), arguments.outside.value_or(Steps::outside)};
    print(out, arguments, contention<Semaphore>(arguments, told));
  };
  if (!withRow(Algorithms{}, arguments.algorithm, run) && !withRow(ContentionFloors{}, arguments.algorithm, run)) {
    noSuchAlgorithm(arguments.algorithm);
  }
}
