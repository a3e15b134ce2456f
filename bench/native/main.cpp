// The native rows of the benchmarks: a command prints one line of JSON; see README.md.
#include <exception>
#include <iomanip>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>

#include "arguments.hpp"
#include "commands.hpp"
#include "pause.hpp"
#include "rows.hpp"

namespace {

std::string answer(const Arguments& arguments) {
  std::ostringstream out;
  out << std::setprecision(std::numeric_limits<double>::max_digits10);
  if (arguments.command == "list") {
    out << "{\"algorithms\":[" << namesOf(Algorithms{}) << "]}";
  } else if (arguments.command == "semabench") {
    semabench(out, arguments);
  } else if (arguments.command == "mutexbench") {
    mutexbench(out, arguments);
  } else if (arguments.command == "hand-over") {
    handOver(out, arguments);
  } else if (arguments.command == "permits") {
    permits(out, arguments);
  } else if (arguments.command == "sync") {
    syncCounterpart(out, arguments);
  } else if (arguments.command == "channels") {
    channelCounterpart(out, arguments);
  } else {
    pair(out, arguments);
  }
  return out.str();
}

}  // namespace

int main(int count, char** words) {
  try {
    const Arguments arguments = parseArguments(count, words);
    howToPause = arguments.knobs.pause.value_or(Pause::usual);
    std::cout << answer(arguments) << std::endl;
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "native benchmark: " << error.what() << std::endl;
    return 2;
  }
}
