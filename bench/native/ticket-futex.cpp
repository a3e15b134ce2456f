// The slow paths of TicketFutex, kept out of the callers' loops.
#include "ticket-futex.hpp"

#ifdef TAKETURNS_FUTEX

#include <bit>

#include "pause.hpp"

namespace {

const void* lowHalf(const std::atomic<std::uint64_t>& word) {
  return reinterpret_cast<const char*>(&word) + (std::endian::native == std::endian::little ? 0 : 4);
}

}  // namespace

void TicketFutex::wait(std::uint64_t ticket) {
  int polls = spin_;
  for (;;) {
    const std::uint64_t grant = grant_.load();
    if (grant > ticket) return;
    if (polls > 0) {
      spend(polls);
      pauseBriefly();
    } else {
      futexWait(lowHalf(grant_), static_cast<std::uint32_t>(grant));
    }
  }
}

void TicketFutex::wakeAll() { futexWakeAll(lowHalf(grant_)); }

#endif
