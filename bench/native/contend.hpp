// The commands semabench and mutexbench: find the row, run it, and print its counts.
#pragma once

#include <ostream>
#include <string>

#include "contention.hpp"
#include "no-lock.hpp"
#include "rows.hpp"

using ContentionFloors = Rows<NoLock>;

inline void print(std::ostream& out, const Arguments& arguments, const ContentionResult& result) {
  out << "{\"algorithm\":\"" << arguments.algorithm << "\",\"threads\":" << arguments.threads
      << ",\"seconds\":" << result.seconds << ",\"iterations\":";
  printAll(out, result.iterations);
  out << ",\"parts\":{\"seconds\":";
  printAll(out, result.partSeconds);
  out << ",\"iterations\":";
  printAll(out, result.partIterations);
  out << '}';
  out << ",\"cpuSeconds\":" << result.cpuSeconds << ",\"contextSwitches\":" << result.contextSwitches;
  if (result.longestWaitMs) out << ",\"longestWaitMs\":" << *result.longestWaitMs;
  if (result.bypasses) {
    out << ",\"largestBypass\":" << result.bypasses->largest << ",\"bypasses\":";
    printAll(out, result.bypasses->bands);
  }
  if (result.outOfOrder) out << ",\"outOfOrder\":" << *result.outOfOrder;
  out << '}';
}

// Calls `run` with the row that the arguments name.
template <class Run>
void withContender(const std::string& name, Run run) {
  if (!withRow(Algorithms{}, name, run) && !withRow(ContentionFloors{}, name, run)) noSuchAlgorithm(name);
}

// Runs the row with numbers of steps that are not constants, or with a probe (work.cpp).
void contendWithWork(std::ostream& out, const Arguments& arguments, Work work);

// Runs the row with the numbers of steps of the papers, which are constants, unless the arguments ask for other numbers
// or for a probe.
template <class Steps>
void contend(std::ostream& out, const Arguments& arguments, Steps own) {
  if (arguments.probe || arguments.inside || arguments.outside) {
    const Work work{arguments.inside.value_or(Steps::inside), arguments.outside.value_or(Steps::outside)};
    return contendWithWork(out, arguments, work);
  }
  withContender(arguments.algorithm, [&]<class R>(R) {
    using Semaphore = typename R::Semaphore;
    checkKnobs<Semaphore>(arguments.knobs);
    print(out, arguments, Contention<Semaphore, NoProbe, Steps>(arguments.threads, arguments.knobs, own).run(arguments.seconds));
  });
}
