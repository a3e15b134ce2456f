// The parser behind arguments.hpp.
#include "arguments.hpp"

#include <charconv>
#include <cstdlib>
#include <set>

#include "pause.hpp"

namespace {

constexpr int mostThreads = 1024;
constexpr int mostSpin = spinsForEver;
constexpr int mostThreshold = 1024;
constexpr int mostBypass = 1'000'000'000;
constexpr int mostSteps = 100'000;
constexpr int mostMicroseconds = 10'000'000;
constexpr int mostTrials = 1'000'000;
constexpr double mostSeconds = 3600;

const char* const usage =
    "usage: list | semabench ALGORITHM --threads T --seconds S [--probe] [--spin N] [--far-spin N] [--threshold N] "
    "[--inside N] [--outside N] [--bypass N] [--fraction F] [--pause usual|lfence|yield] | mutexbench (as semabench) | pair ALGORITHM --seconds S | "
    "hand-over ALGORITHM --trials N (--computing US | --sleeping US) | permits ALGORITHM --permits N --threads T --trips N | "
    "sync ALGORITHM --threads T --seconds S | "
    "channels ALGORITHM (--trips N | --seconds S [--senders N] [--receivers N]) [--busy N]";

int wholeNumber(const std::string& option, const std::string& text, int least, int most) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || value < least || value > most) {
    throw BadArguments(option + " takes a whole number from " + std::to_string(least) + " to " +
                       std::to_string(most) + ", not '" + text + "'");
  }
  return value;
}

double interval(const std::string& option, const std::string& text) {
  char* stopped = nullptr;
  const double value = std::strtod(text.c_str(), &stopped);
  // The comparison is written so that a NaN fails it.
  if (text.empty() || *stopped != '\0' || !(value > 0 && value <= mostSeconds)) {
    throw BadArguments(option + " takes a number above 0 and up to 3600, not '" + text + "'");
  }
  return value;
}

double share(const std::string& option, const std::string& text) {
  char* stopped = nullptr;
  const double value = std::strtod(text.c_str(), &stopped);
  if (text.empty() || *stopped != '\0' || !(value >= 0 && value < 1)) {
    throw BadArguments(option + " takes a number from 0 to below 1, not '" + text + "'");
  }
  return value;
}

Pause pauseOf(const std::string& text) {
  if (text == "usual") return Pause::usual;
  if (text == "yield") return Pause::yield;
#if defined(__x86_64__)
  if (text == "lfence") return Pause::lfence;
#endif
  throw BadArguments("--pause takes usual, yield, or on x86 lfence, not '" + text + "'");
}

}  // namespace

Arguments parseArguments(int count, char** words) {
  Arguments result;
  if (count < 2) throw BadArguments(usage);
  result.command = words[1];

  std::set<std::string> allowed;
  if (result.command == "semabench" || result.command == "mutexbench") {
    allowed = {"--threads", "--seconds", "--probe", "--spin", "--far-spin", "--threshold",
               "--inside", "--outside", "--bypass", "--fraction", "--pause"};
  } else if (result.command == "pair") {
    allowed = {"--seconds"};
  } else if (result.command == "hand-over") {
    allowed = {"--trials", "--computing", "--sleeping"};
  } else if (result.command == "permits") {
    allowed = {"--permits", "--threads", "--trips", "--spin", "--far-spin", "--threshold", "--pause"};
  } else if (result.command == "sync") {
    allowed = {"--threads", "--seconds"};
  } else if (result.command == "channels") {
    allowed = {"--seconds", "--senders", "--receivers", "--busy", "--trips"};
  } else if (result.command != "list") {
    throw BadArguments("unknown command '" + result.command + "'; " + usage);
  }

  int next = 2;
  if (result.command != "list") {
    if (next == count) throw BadArguments(result.command + " needs an algorithm; " + usage);
    result.algorithm = words[next++];
  }

  std::set<std::string> given;
  while (next < count) {
    const std::string option = words[next++];
    if (!allowed.contains(option)) throw BadArguments(result.command + " has no option '" + option + "'");
    if (!given.insert(option).second) throw BadArguments(option + " is given twice");
    if (option == "--probe") {
      result.probe = true;
      continue;
    }
    if (next == count) throw BadArguments(option + " needs a value");
    const std::string value = words[next++];
    if (option == "--threads") {
      result.threads = static_cast<unsigned>(wholeNumber(option, value, 1, mostThreads));
    }
    if (option == "--seconds") result.seconds = interval(option, value);
    if (option == "--inside") result.inside = static_cast<unsigned>(wholeNumber(option, value, 1, mostSteps));
    if (option == "--outside") result.outside = static_cast<unsigned>(wholeNumber(option, value, 0, mostSteps));
    if (option == "--trials") result.trials = static_cast<unsigned>(wholeNumber(option, value, 1, mostTrials));
    if (option == "--permits") result.permits = static_cast<unsigned>(wholeNumber(option, value, 1, mostThreads));
    if (option == "--trips") result.trips = static_cast<unsigned>(wholeNumber(option, value, 1, mostTrials));
    if (option == "--senders") result.senders = static_cast<unsigned>(wholeNumber(option, value, 1, mostThreads));
    if (option == "--receivers") result.receivers = static_cast<unsigned>(wholeNumber(option, value, 1, mostThreads));
    if (option == "--busy") result.busy = static_cast<unsigned>(wholeNumber(option, value, 0, mostThreads));
    if (option == "--computing") result.computing = wholeNumber(option, value, 1, mostMicroseconds);
    if (option == "--sleeping") result.sleeping = wholeNumber(option, value, 1, mostMicroseconds);
    if (option == "--spin") result.knobs.spin = wholeNumber(option, value, 0, mostSpin);
    if (option == "--far-spin") result.knobs.farSpin = wholeNumber(option, value, 0, mostSpin);
    if (option == "--bypass") result.knobs.bypass = wholeNumber(option, value, 1, mostBypass);
    if (option == "--fraction") result.knobs.fraction = share(option, value);
    if (option == "--pause") result.knobs.pause = pauseOf(value);
    if (option == "--threshold") result.knobs.threshold = wholeNumber(option, value, 0, mostThreshold);
  }
  for (const char* const needed : {"--threads", "--seconds", "--trials"}) {
    if (allowed.contains(needed) && !given.contains(needed) && result.trips == 0) {
      throw BadArguments(result.command + " needs " + needed);
    }
  }
  if (result.command == "permits" && (result.permits == 0 || result.threads == 0 || result.trips == 0)) {
    throw BadArguments("permits needs --permits, --threads and --trips");
  }
  if (result.command == "hand-over" && result.computing.has_value() == result.sleeping.has_value()) {
    throw BadArguments("hand-over needs either --computing or --sleeping");
  }
  return result;
}
