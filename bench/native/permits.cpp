// Whether a semaphore of N permits lets at most N threads in at a time, and loses none of its permits.
#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include <sched.h>

#include "arguments.hpp"
#include "commands.hpp"
#include "rows.hpp"

namespace {

template <class Semaphore>
unsigned mostInside(const Arguments& arguments) {
  const unsigned permits = arguments.permits;
  Semaphore semaphore(permits, arguments.knobs);
  std::atomic<unsigned> inside{0}, most{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < arguments.threads; i++) {
    threads.emplace_back([&] {
      for (unsigned trip = 0; trip < arguments.trips; trip++) {
        semaphore.acquire();
        const unsigned now = inside.fetch_add(1) + 1;
        for (unsigned seen = most.load(); seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        sched_yield();
        inside.fetch_sub(1);
        semaphore.release();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (most.load() > permits) throw std::runtime_error("it let more threads in at once than it has permits");
  // All permits are back, so none of these calls waits.
  for (unsigned permit = 0; permit < permits; permit++) semaphore.acquire();
  return most.load();
}

}  // namespace

void permits(std::ostream& out, const Arguments& arguments) {
  const bool found = withRow(Algorithms{}, arguments.algorithm, [&]<class R>(R) {
    using Semaphore = typename R::Semaphore;
    checkKnobs<Semaphore>(arguments.knobs);
    if constexpr (OnlyOnePermit<Semaphore>) {
      throw BadArguments(std::string(Semaphore::name) + " always has one permit");
    } else {
      out << "{\"algorithm\":\"" << arguments.algorithm << "\",\"mostInside\":" << mostInside<Semaphore>(arguments) << '}';
    }
  });
  if (!found) noSuchAlgorithm(arguments.algorithm);
}
