// The slow path of TtsFutex, kept out of the callers' loops.
#include "tts-futex.hpp"

#ifdef TAKETURNS_FUTEX

#include "pause.hpp"

void TtsFutex::wait() {
  int polls = spin_;
  for (;;) {
    std::uint32_t seen = word_.load();
    if (seen == 0) {
      if (word_.compare_exchange_strong(seen, held)) return;
    } else if (polls > 0) {
      spend(polls);
      pauseBriefly();
    } else if (seen & parked || word_.compare_exchange_strong(seen, seen | parked)) {
      futexWait(&word_, held | parked);
      polls = spin_;
    }
  }
}

#endif
