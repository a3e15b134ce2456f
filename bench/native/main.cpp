// The native rows of the benchmarks: one command, one line of JSON, as README.md tells.
#include <cstdint>
#include <exception>
#include <iomanip>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>

#include "arguments.hpp"
#include "bare-futex.hpp"
#include "clh-futex.hpp"
#include "contention.hpp"
#include "counting-semaphore.hpp"
#include "hand-over.hpp"
#include "lifo-futex.hpp"
#include "mcs-futex.hpp"
#include "no-lock.hpp"
#include "one-permit.hpp"
#include "pair.hpp"
#include "pthread-mutex.hpp"
#include "reciprocating-futex.hpp"
#include "sem-t.hpp"
#include "ticket-futex.hpp"
#include "tts-futex.hpp"
#include "twa-futex.hpp"
#include "two-locked-instructions.hpp"

namespace {

template <class... Semaphores>
struct Rows {};

// The names are in the order in which `list` gives them.
using Algorithms = Rows<
#ifdef TAKETURNS_SEM_T
    SemT,
#endif
#ifdef TAKETURNS_FUTEX
    TicketFutex, TwaFutex, OnePermit<TtsFutex>, OnePermit<McsFutex>, OnePermit<ClhFutex>,
    OnePermit<LifoFutex>, OnePermit<ReciprocatingFutex>,
#endif
    OnePermit<PthreadMutex>,
    CountingSemaphore>;
using Floors = Rows<TwoLockedInstructions>;
using ContentionFloors = Rows<NoLock>;
using HandOverFloors = Rows<
#ifdef TAKETURNS_FUTEX
    OnePermit<BareFutex>
#endif
    >;

template <class T>
struct Row {
  using Semaphore = T;
};

// Calls `action` with the row of that name; false if there is none.
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

[[noreturn]] void noSuchAlgorithm(const std::string& name) {
  throw BadArguments("no algorithm '" + name + "' here; there are " + namesOf(Algorithms{}));
}

template <class Semaphore>
void checkKnobs(const Knobs& knobs) {
  if (knobs.spin && !Semaphore::spins) throw BadArguments(std::string(Semaphore::name) + " has no --spin");
  if (knobs.threshold && !Semaphore::hasThreshold) {
    throw BadArguments(std::string(Semaphore::name) + " has no --threshold");
  }
}

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

void print(std::ostream& out, const Arguments& arguments, const ContentionResult& result) {
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

void print(std::ostream& out, const Arguments& arguments, const Trials& result) {
  out << std::setprecision(9) << "{\"algorithm\":\"" << arguments.algorithm << "\",\"latencies\":";
  printAll(out, result.latencies);
  out << ",\"cpu\":";
  printAll(out, result.cpu);
  out << ",\"late\":" << result.late << '}';
}

std::string answer(const Arguments& arguments) {
  std::ostringstream out;
  out << std::setprecision(std::numeric_limits<double>::max_digits10);
  if (arguments.command == "list") {
    out << "{\"algorithms\":[" << namesOf(Algorithms{}) << "]}";
  } else if (arguments.command == "semabench" || arguments.command == "mutexbench") {
    const auto run = [&]<class R>(R) {
      using Semaphore = typename R::Semaphore;
      const auto with = [&]<class Steps>(Steps own) {
        if (!arguments.inside && !arguments.outside) return contention<Semaphore>(arguments, own);
        const Work told{arguments.inside.value_or(Steps::inside), arguments.outside.value_or(Steps::outside)};
        return contention<Semaphore>(arguments, told);
      };
      print(out, arguments, arguments.command == "semabench" ? with(Semabench{}) : with(Mutexbench{}));
    };
    if (!withRow(Algorithms{}, arguments.algorithm, run) && !withRow(ContentionFloors{}, arguments.algorithm, run)) {
      noSuchAlgorithm(arguments.algorithm);
    }
  } else if (arguments.command == "hand-over") {
    const auto run = [&]<class R>(R) {
      using Semaphore = typename R::Semaphore;
      checkKnobs<Semaphore>(arguments.knobs);
      const Section section{arguments.sleeping.has_value(), arguments.sleeping ? *arguments.sleeping : *arguments.computing};
      print(out, arguments, HandOver<Semaphore>(arguments.knobs, section).run(arguments.trials));
    };
    if (!withRow(Algorithms{}, arguments.algorithm, run) && !withRow(HandOverFloors{}, arguments.algorithm, run)) {
      noSuchAlgorithm(arguments.algorithm);
    }
  } else {
    const auto run = [&]<class R>(R) {
      out << "{\"algorithm\":\"" << arguments.algorithm << "\",\"nanosecondsPerPair\":"
          << nanosecondsPerPair<typename R::Semaphore>(arguments.seconds, arguments.knobs) << '}';
    };
    if (!withRow(Algorithms{}, arguments.algorithm, run) && !withRow(Floors{}, arguments.algorithm, run)) {
      noSuchAlgorithm(arguments.algorithm);
    }
  }
  return out.str();
}

}  // namespace

int main(int count, char** words) {
  try {
    std::cout << answer(parseArguments(count, words)) << std::endl;
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "native benchmark: " << error.what() << std::endl;
    return 2;
  }
}
