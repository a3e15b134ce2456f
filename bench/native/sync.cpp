// The counterparts of taketurns/sync in the C library: rounds of pthread_barrier_t, round trips by pthread_cond_t, and
// reads under pthread_rwlock_t. And what the kernel's table of waiters costs if threads wait on one word, or each on a
// word of its own. Each thread first does the same work untimed, for a tenth of the interval.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <iomanip>
#include <thread>
#include <vector>

#include "arguments.hpp"
#include "commands.hpp"
#include "futex.hpp"
#include "pause.hpp"
#include "semaphore.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// Counts what one thread does, first without timing and then for an interval.
class Interval {
 public:
  explicit Interval(double seconds) : seconds_(seconds) {}

  // Is told that so many operations are done; returns whether the interval is over.
  bool over(std::uint64_t operations) {
    const double elapsed = secondsSince(begin_);
    if (warm_) {
      if (elapsed < seconds_ / 10) return false;
      warm_ = false;
      begin_ = Clock::now();
      before_ = operations;
      return false;
    }
    if (elapsed < seconds_) return false;
    elapsed_ = elapsed;
    count_ = operations - before_;
    return true;
  }

  double perSecond() const { return static_cast<double>(count_) / elapsed_; }

 private:
  const double seconds_;
  bool warm_ = true;
  Clock::time_point begin_ = Clock::now();
  std::uint64_t before_ = 0;
  std::uint64_t count_ = 0;
  double elapsed_ = 0;
};

void joinAll(std::vector<std::thread>& threads) {
  for (std::thread& thread : threads) thread.join();
}

// Before the last round the leader writes that this round is the last. The other threads read this after the round.
double rounds(unsigned threads, double seconds, const std::function<void()>& meet) {
  std::atomic<std::uint64_t> last{0};
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; i++) {
    others.emplace_back([&] {
      for (std::uint64_t round = 1;; round++) {
        meet();
        if (round == last.load()) return;
      }
    });
  }
  Interval interval(seconds);
  std::uint64_t round = 0;
  do {
    meet();
    round++;
  } while (!interval.over(round));
  last.store(round + 1);
  meet();
  joinAll(others);
  return interval.perSecond();
}

#if defined(_POSIX_BARRIERS) && _POSIX_BARRIERS > 0
double barrierRounds(unsigned threads, double seconds) {
  pthread_barrier_t barrier;
  if (pthread_barrier_init(&barrier, nullptr, threads) != 0) throw BadArguments("no such barrier can be made");
  const double result = rounds(threads, seconds, [&] { pthread_barrier_wait(&barrier); });
  pthread_barrier_destroy(&barrier);
  return result;
}
#endif

// Two threads take turns under one mutex. A value of the turn that belongs to neither thread ends the game.
double roundTrips(double seconds) {
  constexpr int nobody = -1;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  int turn = 0;
  const auto play = [&](int me, const std::function<bool()>& isOver) {
    pthread_mutex_lock(&mutex);
    while (true) {
      while (turn != me && turn != nobody) pthread_cond_wait(&changed, &mutex);
      if (turn == nobody) break;
      turn = isOver() ? nobody : 1 - me;
      pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&mutex);
  };
  std::thread other([&] { play(1, [] { return false; }); });
  Interval interval(seconds);
  std::uint64_t trips = 0;
  play(0, [&] { return interval.over(trips++); });
  other.join();
  return interval.perSecond();
}

// Each thread repeats the operation on its own, and the sum of the threads' rates counts. One more thread sleeps, so that
// the process has at least two threads.
template <class Operation>
double together(unsigned threads, double seconds, Operation operation) {
  constexpr int batch = 1000;
  std::promise<void> measured;
  const std::shared_future<void> end = measured.get_future().share();
  std::thread sleeper([end] { end.wait(); });
  std::atomic<unsigned> come{0};
  std::atomic<double> rate{0};
  std::vector<std::thread> all;
  for (unsigned i = 0; i < threads; i++) {
    all.emplace_back([&, i] {
      come++;
      while (come.load() < threads) pauseBriefly();
      Interval interval(seconds);
      std::uint64_t count = 0;
      do {
        for (int k = 0; k < batch; k++) operation(i);
        count += batch;
      } while (!interval.over(count));
      rate += interval.perSecond();
    });
  }
  joinAll(all);
  measured.set_value();
  sleeper.join();
  return rate;
}

double reads(unsigned threads, double seconds) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  return together(threads, seconds, [&](unsigned) {
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_unlock(&lock);
  });
}

#ifdef TAKETURNS_FUTEX
struct alignas(sectorSize) WaitedWord {
  std::atomic<std::uint32_t> value{1};
};

// Each call would wait for a value that the word does not have. So the kernel takes the lock of the word's chain in its
// table, looks at the word, and returns.
double futexLooks(unsigned threads, double seconds, bool wordEach) {
  std::vector<WaitedWord> words(threads);
  return together(threads, seconds, [&](unsigned thread) { futexWait(&words[wordEach ? thread : 0].value, 0); });
}
#endif

double measure(const Arguments& arguments) {
  const std::string& name = arguments.algorithm;
#if defined(_POSIX_BARRIERS) && _POSIX_BARRIERS > 0
  if (name == "pthread_barrier") return barrierRounds(arguments.threads, arguments.seconds);
#endif
  if (name == "pthread_cond") {
    if (arguments.threads != 2) throw BadArguments("pthread_cond takes --threads 2");
    return roundTrips(arguments.seconds);
  }
  if (name == "pthread_rwlock") return reads(arguments.threads, arguments.seconds);
#ifdef TAKETURNS_FUTEX
  if (name == "futex-one-word") return futexLooks(arguments.threads, arguments.seconds, false);
  if (name == "futex-word-each") return futexLooks(arguments.threads, arguments.seconds, true);
#endif
  throw BadArguments("no algorithm '" + name +
                     "' of sync here; there are pthread_barrier, pthread_cond, pthread_rwlock, futex-one-word, futex-word-each");
}

}  // namespace

void syncCounterpart(std::ostream& out, const Arguments& arguments) {
  const double perSecond = measure(arguments);
  out << "{\"algorithm\":\"" << arguments.algorithm << "\",\"perSecond\":" << perSecond << '}';
}
