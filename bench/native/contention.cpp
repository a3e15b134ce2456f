#include "contention.hpp"

#include <sys/resource.h>

#include <ctime>
#include <stdexcept>

namespace {

constexpr std::chrono::seconds gathering{2};

void nap() { std::this_thread::sleep_for(std::chrono::microseconds(200)); }

double processCpuSeconds() {
  timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

std::uint64_t contextSwitches() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  return static_cast<std::uint64_t>(used.ru_nvcsw) + static_cast<std::uint64_t>(used.ru_nivcsw);
}

}  // namespace

ContentionResult Interval::run(double seconds) {
  std::vector<std::thread> threads;
  try {
    for (unsigned i = 0; i < results_.size(); i++) threads.emplace_back([this, i] { work(i); });
  } catch (...) {
    // The system refused to start a thread, so the threads that run have to stop.
    stop(threads);
    throw;
  }
  const Clock::time_point patience = Clock::now() + gathering;
  while (admitted_.load() < threads.size() && Clock::now() < patience) nap();

  const double cpuBefore = processCpuSeconds();
  const std::uint64_t switchesBefore = contextSwitches();
  begin_ = Clock::now();
  phase_.store(measuring, std::memory_order_release);
  ContentionResult result;
  Clock::time_point last = begin_;
  for (int part = 1; part <= parts; part++) {
    const std::chrono::duration<double> due(seconds * part / parts);
    std::this_thread::sleep_until(begin_ + std::chrono::duration_cast<Clock::duration>(due));
    const Clock::time_point now = Clock::now();
    result.partSeconds.push_back(std::chrono::duration<double>(now - last).count());
    last = now;
    if (part < parts) phase_.store(measuring + part, std::memory_order_release);
  }
  end_ = last;
  const double cpuAfter = processCpuSeconds();
  const std::uint64_t switchesAfter = contextSwitches();
  stop(threads);

  result.partIterations.resize(parts);
  result.seconds = std::chrono::duration<double>(end_ - begin_).count();
  result.cpuSeconds = cpuAfter - cpuBefore;
  result.contextSwitches = switchesAfter - switchesBefore;
  Clock::duration longest{0};
  Mt19937 expected{seed};
  for (const Result& each : results_) {
    if (!apart_) expected.discard(each.turns * inside_);
    result.iterations.push_back(each.marks[stopped] - each.marks[measuring]);
    for (int part = 0; part < parts; part++) {
      result.partIterations[part] += each.marks[measuring + part + 1] - each.marks[measuring + part];
    }
    longest = std::max(longest, each.longestWait);
  }
  if (expected != shared_) throw std::runtime_error("it let two threads in at once: steps were lost");
  addRecords(result, longest);
  return result;
}

void Interval::stop(std::vector<std::thread>& threads) {
  phase_.store(stopped, std::memory_order_release);
  while (left_.load() < threads.size() && wakeForgotten()) nap();
  for (std::thread& thread : threads) thread.join();
}
