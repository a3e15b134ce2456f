// Splits and checks the command line. A mistake throws a BadArguments with one line that describes it.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "semaphore.hpp"

struct BadArguments : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Arguments {
  std::string command;    // list, semabench, mutexbench, pair, hand-over, permits, sync or channels
  std::string algorithm;  // empty for list
  unsigned threads = 0;
  double seconds = 0;
  bool probe = false;
  // The steps of the shared generator inside the section, and of the thread's own generator after the section. By
  // default these are the numbers of the papers.
  std::optional<unsigned> inside, outside;
  // The section of a hand-over: microseconds of computing or of sleep.
  std::optional<unsigned> computing, sleeping;
  unsigned trials = 0;
  unsigned permits = 0;
  // Of channels: the threads that send, receive, and compute beside them; and how many round trips, or 0. Of permits: the turns
  // of each thread.
  unsigned senders = 1, receivers = 1, busy = 0, trips = 0;
  Knobs knobs;
};

Arguments parseArguments(int count, char** words);
