// The slow paths of TwaFutex and its waiting array.
#include "twa-futex.hpp"

#ifdef TAKETURNS_FUTEX

#include "pause.hpp"

namespace {

constexpr std::uint32_t bucketCount = 2048;
constexpr std::uint32_t parkedBit = 1;

// This is the size of the listing's bucket. With 17 as multiplier, the buckets of consecutive tickets lie 136 bytes
// apart. So no two of 120 consecutive tickets share a cache line, and the whole array fits the first-level cache.
// Buckets of 64 and 128 bytes were no faster.
struct alignas(8) Bucket {
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
  const std::uintptr_t hash = reinterpret_cast<std::uintptr_t>(this) + static_cast<std::uint32_t>(ticket) * 17u;
  return waitingArray[hash % bucketCount].word;
}

void TwaFutex::wait(std::uint64_t ticket) {
  std::atomic<std::uint32_t>& word = bucketOf(ticket);
  // By default a far waiter parks at once, and leaves its processor to near waiters.
  int polls = farSpin_;
  bool far = true;
  bool hasParked = false;
  for (;;) {
    std::uint32_t seen = word.load();
    const std::uint64_t grant = grant_.load();
    if (grant > ticket) return;
    if (far && grant + threshold_ > ticket) {
      far = false;
      polls = hasParked && !nearSpinForEver() ? spin_ / 8 : spin_;
      if (hasNearLoop_) {
        for (; polls > 0; spend(polls)) {
          if (grant_.load() > ticket) return;
          pauseBriefly();
        }
        continue;
      }
    }
    if (polls > 0) {
      // Until its bucket changes, a far waiter leaves grant alone.
      do {
        spend(polls);
        pauseBriefly();
      } while (far && polls > 0 && word.load() == seen);
      continue;
    }
    if (!(seen & parkedBit)) {
      if (!word.compare_exchange_strong(seen, seen | parkedBit)) continue;
      if (grant_.load() > ticket) return;
    }
    futexWait(&word, seen | parkedBit);
    hasParked = true;
  }
}

void TwaFutex::advance(std::uint64_t due, std::uint64_t ticket) {
  // With threshold 0, the ticket that is due is also the ticket that comes near.
  if (threshold_ > 0 && !nearSpinForEver()) {
    std::atomic<std::uint32_t>& word = bucketOf(due);
    if (word.load() & parkedBit) poke(word);
  }
  if (ticket <= due + threshold_) return;
  std::atomic<std::uint32_t>& word = bucketOf(due + threshold_);
  // If nobody ever parks, the release is that of the listing.
  if (nearSpinForEver() && farSpin_ == spinsForEver) word.fetch_add(parkedBit << 1);
  else poke(word);
}

#endif
