#include "bare-futex.hpp"
#include "commands.hpp"
#include "hand-over.hpp"
#include "rows.hpp"

namespace {

using HandOverFloors = Rows<
#ifdef TAKETURNS_FUTEX
    OnePermit<BareFutex>
#endif
    >;

void print(std::ostream& out, const Arguments& arguments, const Trials& result) {
  out << std::setprecision(9) << "{\"algorithm\":\"" << arguments.algorithm << "\",\"latencies\":";
  printAll(out, result.latencies);
  out << ",\"cpu\":";
  printAll(out, result.cpu);
  out << ",\"late\":" << result.late << '}';
}

}  // namespace

void handOver(std::ostream& out, const Arguments& arguments) {
  const auto run = [&]<class R>(R) {
    using Semaphore = typename R::Semaphore;
    checkKnobs<Semaphore>(arguments.knobs);
    const Section section{arguments.sleeping.has_value(), arguments.sleeping ? *arguments.sleeping : *arguments.computing};
    print(out, arguments, HandOver<Semaphore>(arguments.knobs, section).run(arguments.trials));
  };
  if (!withRow(Algorithms{}, arguments.algorithm, run) && !withRow(HandOverFloors{}, arguments.algorithm, run)) {
    noSuchAlgorithm(arguments.algorithm);
  }
}
