// TWA-Semaphore, Listing 2 of Dice and Kogan, Semaphores Augmented with a Waiting Array.
//
// Ticket t is admitted once grant exceeds t. A waiter that is at most LongTermThreshold away from its turn is near, and
// polls grant; before each look at grant it also loads its bucket, which the listing does not do. A waiter further back
// is far, and waits on the bucket of its ticket. A release moves grant, which admits ticket g (the old grant), and pokes
// the bucket of ticket g + threshold. So the waiter of that ticket comes near, and runs by the time that its turn comes.
//
// A waiter spins a bounded number of times and then parks on the bucket, so that more threads than processors can make
// progress. By default only near waiters spin, as the paper proposes for futexes, and with threshold 0 no waiter spins.
// With --far-spin far waiters spin too, as in the paper's figures. If near and far waiters spin for ever, a release is
// that of the listing. A waiter that arrives near spins for the full budget, since the holder is most likely running. A
// waiter that was woken to come near spins for an eighth of the budget, since the waiter before it may be queued behind
// it on the same processor. README.md has the measurements.
//
// The word of a bucket holds a sequence and, in the lowest bit, the mark of a parked waiter:
//
//   waiter                                  poster
//   W1  read the word                       P1  grant + 1
//   W2  read grant: too small               P2  ticket > g, or no waiter: done
//   W3  set the parked bit; the word has    P3  bucket of g: poke if the parked bit is set   (threshold > 0)
//       changed since W1: start again       P4  bucket of g + threshold: poke
//   W4  read grant: too small               poke: sequence + 1 and parked bit cleared, in one step;
//   W5  sleep while the word is as in W3          wake all if the bit was set
//
// No thread sleeps for ever. A poke after W1 changes the word. So W3 or W5 fails, or the poke wakes the sleeper. A poke
// before W1 came after the P1 of its poster, so W2 sees the new grant. The sequence has 31 bits, and that of the listing
// 64. This would go wrong only if a thread stood still, between W1 and W5, for exactly 2^31 pokes of its bucket.
//
// Only the poke of P3 depends on what the poster reads. It is for near waiters that have stopped spinning. W3 before W4
// and P1 before P3 are sequentially consistent, so either the poster sees the bit or the waiter sees the grant. If W1
// finds the bit already set, W1 itself stands for W3 and W2 stands for W4: only a poke clears the bit, and a poke
// changes the word.
//
// Since a poke clears the bit, a woken waiter that does not run yet costs no second system call. A waiter that leaves
// at W4 leaves the bit set, which causes one futile wake-up.
#pragma once

#include "futex.hpp"

#ifdef TAKETURNS_FUTEX

#include "pause.hpp"
#include "semaphore.hpp"

class TwaFutex {
 public:
  static constexpr const char* name = "twa-futex";
  static constexpr bool spins = true;
  static constexpr bool hasThreshold = true;
  static constexpr int defaultSpin = 1000;
  static constexpr int defaultThreshold = 1;

  TwaFutex(unsigned permits, const Knobs& knobs, bool hasNearLoop = false)
      : grant_(permits),
        spin_(knobs.spin.value_or(defaultSpin)),
        farSpin_(knobs.farSpin.value_or(0)),
        threshold_(static_cast<std::uint64_t>(knobs.threshold.value_or(defaultThreshold))),
        hasNearLoop_(hasNearLoop) {}

  std::uint64_t acquire() {
    const std::uint64_t ticket = ticket_.fetch_add(1);
    if (grant_.load() <= ticket) [[unlikely]] wait(ticket);
    return ticket;
  }

  void release() {
    const std::uint64_t before = grant_.fetch_add(1);
    const std::uint64_t ticket = ticket_.load();
    // The short-cut: ticket `before` is admitted now. If no thread has taken this ticket, the release ends here. The
    // test does not depend on the threshold, since a near waiter may be parked and need the wake-up.
    if (ticket > before) [[unlikely]] advance(before, ticket);
  }

  void release(unsigned permits) {
    for (unsigned i = 0; i < permits; i++) release();
  }

 private:
  void wait(std::uint64_t ticket);
  void advance(std::uint64_t due, std::uint64_t ticket);
  std::atomic<std::uint32_t>& bucketOf(std::uint64_t ticket) const;
  /** Whether near waiters spin for ever. Then no release needs to wake them. */
  bool nearSpinForEver() const { return threshold_ > 0 && spin_ == spinsForEver; }

  // Both words are in one cache line, since a release reads both.
  alignas(sectorSize) std::atomic<std::uint64_t> ticket_{0};
  std::atomic<std::uint64_t> grant_;
  // These are apart from ticket and grant. Only waiters read them.
  alignas(sectorSize) const int spin_;
  const int farSpin_;
  const std::uint64_t threshold_;
  const bool hasNearLoop_;
};

// The same semaphore, whose near waiters poll grant in a loop of their own, which reads nothing else: a note of Listing 2
// of Dice, Capacitors, proposes this.
class TwaNearLoop : public TwaFutex {
 public:
  static constexpr const char* name = "twa-near-loop-futex";

  TwaNearLoop(unsigned permits, const Knobs& knobs) : TwaFutex(permits, knobs, true) {}
};

#endif
