// The native counterpart of a channel of numbers: the bounded queue of boost.lockfree for many senders and receivers. It
// has no way to wait, so two semaphores of the standard library count its free and its full places.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

#include "arguments.hpp"
#include "commands.hpp"

#if __has_include(<boost/lockfree/queue.hpp>)
#include <boost/lockfree/queue.hpp>
#define HAS_BOOST
#endif

namespace {

#ifdef HAS_BOOST

using Clock = std::chrono::steady_clock;

constexpr int capacity = 256;
constexpr auto warmUp = std::chrono::milliseconds(150);

double microsecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

class Queue {
 public:
  void send(std::uint64_t value) {
    free_.acquire();
    while (!queue_.push(value));
    full_.release();
  }

  std::uint64_t receive() {
    full_.acquire();
    std::uint64_t value;
    while (!queue_.pop(value));
    free_.release();
    return value;
  }

 private:
  boost::lockfree::queue<std::uint64_t, boost::lockfree::fixed_sized<true>> queue_{capacity};
  std::counting_semaphore<> free_{capacity};
  std::counting_semaphore<> full_{0};
};

constexpr std::uint64_t end = ~0ull;

struct alignas(64) Count {
  std::atomic<std::uint64_t> value{0};
};

// Threads that compute until they are told to end.
class Busy {
 public:
  explicit Busy(unsigned threads) {
    for (unsigned i = 0; i < threads; i++) {
      threads_.emplace_back([this] {
        for (volatile std::uint64_t x = 1; !over_.load(std::memory_order_relaxed);) x = x * 1664525 + 1013904223;
      });
    }
  }
  ~Busy() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

double processorMicroseconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& time) { return time.tv_sec * 1e6 + time.tv_usec; };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

void rates(std::ostream& out, const Arguments& arguments) {
  Queue queue;
  Busy busy(arguments.busy);
  std::vector<Count> counts(arguments.receivers);
  std::atomic<bool> over{false};
  std::vector<std::thread> senders, receivers;
  for (unsigned i = 0; i < arguments.senders; i++) {
    senders.emplace_back([&] {
      for (std::uint64_t k = 0; !over.load(std::memory_order_relaxed); k++) queue.send(k);
    });
  }
  for (Count& count : counts) {
    receivers.emplace_back([&] {
      while (queue.receive() != end) count.value.store(count.value.load(std::memory_order_relaxed) + 1);
    });
  }
  const auto all = [&] {
    std::vector<std::uint64_t> now;
    for (const Count& count : counts) now.push_back(count.value.load());
    return now;
  };
  std::this_thread::sleep_for(warmUp);
  const auto before = all();
  const double processor = processorMicroseconds();
  const Clock::time_point begin = Clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(arguments.seconds));
  auto after = all();
  const double took = microsecondsSince(begin);
  const double used = processorMicroseconds() - processor;
  over = true;
  for (std::thread& thread : senders) thread.join();
  for (unsigned i = 0; i < arguments.receivers; i++) queue.send(end);
  for (std::thread& thread : receivers) thread.join();
  double sum = 0;
  for (std::size_t i = 0; i < after.size(); i++) sum += static_cast<double>(after[i] -= before[i]);
  const auto [least, most] = std::minmax_element(after.begin(), after.end());
  const double fairness = *most == 0 ? 0 : static_cast<double>(*least) / static_cast<double>(*most);
  out << "{\"perSecond\":" << sum * 1e6 / took << ",\"fairness\":" << fairness;
  if (arguments.busy == 0 && sum > 0) out << ",\"cpuMicroseconds\":" << used / sum;
  out << '}';
}

void roundTrips(std::ostream& out, const Arguments& arguments) {
  constexpr int untimed = 500;
  Busy busy(arguments.busy);
  Queue there, back;
  std::thread answering([&] {
    for (std::uint64_t value = there.receive(); value != end; value = there.receive()) back.send(value);
  });
  std::vector<double> trips;
  for (int i = -untimed; i < static_cast<int>(arguments.trips); i++) {
    const Clock::time_point begin = Clock::now();
    there.send(0);
    back.receive();
    if (i >= 0) trips.push_back(microsecondsSince(begin));
  }
  there.send(end);
  answering.join();
  std::sort(trips.begin(), trips.end());
  out << "{\"microseconds\":" << trips[trips.size() / 2] << ",\"late\":" << trips[trips.size() * 99 / 100] << '}';
}

#endif

}  // namespace

void channelCounterpart(std::ostream& out, const Arguments& arguments) {
  if (arguments.algorithm != "boost.lockfree") {
    throw BadArguments("no algorithm '" + arguments.algorithm + "' of channels here; there is boost.lockfree");
  }
#ifdef HAS_BOOST
  if (arguments.trips > 0) roundTrips(out, arguments);
  else rates(out, arguments);
#else
  (void)out;
  throw BadArguments("boost.lockfree is not installed (in Debian, libboost-dev)");
#endif
}
