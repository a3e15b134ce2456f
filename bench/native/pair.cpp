#include "commands.hpp"
#include "pair.hpp"
#include "rows.hpp"
#include "two-locked-instructions.hpp"

namespace {

using Floors = Rows<TwoLockedInstructions>;

}  // namespace

void pair(std::ostream& out, const Arguments& arguments) {
  const auto run = [&]<class R>(R) {
    out << "{\"algorithm\":\"" << arguments.algorithm << "\",\"nanosecondsPerPair\":"
        << nanosecondsPerPair<typename R::Semaphore>(arguments.seconds, arguments.knobs) << '}';
  };
  if (!withRow(Algorithms{}, arguments.algorithm, run) && !withRow(Floors{}, arguments.algorithm, run)) {
    noSuchAlgorithm(arguments.algorithm);
  }
}
