// The slow paths of TwaFutex and its waiting array.
#include "twa-futex.hpp"

#ifdef TAKETURNS_FUTEX

#include <cstdlib>
#include "pause.hpp"

#ifndef BUCKET
#define BUCKET 8
#endif
static const int FAR = getenv("FAR") ? atoi(getenv("FAR")) : -1;
namespace {

constexpr std::uint32_t bucketCount = 2048;
constexpr std::uint32_t parkedBit = 1;

struct alignas(BUCKET) Bucket {
  std::atomic<std::uint32_t> word{0};
};

alignas(4096) Bucket waitingArray[bucketCount];

void poke(std::atomic<std::uint32_t>& word) {
  std::uint32_t seen = word.load();
  while (!word.compare_exchange_weak(seen, (seen | parkedBit) + 1)) {
  }
  if (seen & parkedBit) futexWakeAll(&word);
}

}  // namespace

std::atomic<std::uint32_t>& TwaFutex::bucketOf(std::uint64_t ticket) const {
  const auto hash = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(this)) + static_cast<std::uint32_t>(ticket) * 17;
  return waitingArray[hash % bucketCount].word;
}

void TwaFutex::wait(std::uint64_t ticket) {
  std::atomic<std::uint32_t>& word = bucketOf(ticket);
  bool far = true;
  int polls = FAR < 0 ? spin_ : FAR;
  for (;;) {
    std::uint32_t seen = word.load();
    const std::uint64_t grant = grant_.load();
    if (grant > ticket) return;
    if (far && grant + threshold_ > ticket) {
      far = false;
      polls = spin_;
    }
    if (polls > 0) {
      if (far) {
        while (polls-- > 0 && ((word.load() ^ seen) & ~parkedBit) == 0) pauseBriefly();
      } else {
        polls--;
        pauseBriefly();
      }
      continue;
    }
    if (!(seen & parkedBit)) {
      if (!word.compare_exchange_strong(seen, seen | parkedBit)) continue;
      if (grant_.load() > ticket) return;
    }
    futexWait(&word, seen | parkedBit);
  }
}

void TwaFutex::advance(std::uint64_t due, std::uint64_t ticket) {
  if (threshold_ > 0) {
    std::atomic<std::uint32_t>& word = bucketOf(due);
    if (word.load() & parkedBit) poke(word);
  }
  if (ticket > due + threshold_) poke(bucketOf(due + threshold_));
}

#endif
