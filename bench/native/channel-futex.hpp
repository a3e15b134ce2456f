// The semaphore over channels, Listing 4 of Dice and Kogan, Semaphores Augmented with a Waiting Array, in three forms.
//
// A channel is a chain as in Listing 3 and a sequence. A signal moves the sequence before it detaches the chain. A
// waiter reads the sequence (monitor), looks at its condition, and then waits until the sequence has changed (wait).
//
//   channel-futex            KeyMonitor and KeyWait
//   channel-lazy-futex       KeyWaitLazy, which also reads the sequence: a waiter calls no KeyMonitor
//   channel-sequence-futex   waiters park by futex on the sequence itself, which the notes of the listing propose. A
//                            count of sleepers takes the place of the chain, so that a signal without sleepers makes no
//                            system call
//
// No thread sleeps for ever: a waiter pushes and then reads the sequence, and a signal moves the sequence and then
// detaches. Both are exchanges of the chain, so this also holds in the printed orders: if the waiter's push comes
// second, it reads what the signal wrote. A sleeper enters the count before the kernel compares the sequence, and a
// signal moves the sequence before it reads the count. The kernel compares 32 bits, so that sequence has 32, and would
// deceive a thread that stood still for exactly 2^32 signals.
#pragma once

#include "chain-futex.hpp"

#ifdef TAKETURNS_FUTEX

template <class Orders>
struct ChainChannel {
  Chain<Orders> chain{nullptr};
  std::atomic<std::uint64_t> sequence{0};

  std::uint64_t monitor() const { return sequence.load(Orders::load); }

  void signal(int polls) {
    sequence.fetch_add(1);
    poke(chain.exchange(nullptr), polls);
  }

  // Waits until the sequence is another one than `seen`.
  void wait(std::uint64_t seen, int polls) {
    while (monitor() == seen) {
      if (!waitOnce(seen, polls)) return;
    }
  }

  // Waits for a signal, unless the sequence is another one than `seen`. Leaves the present one in `seen`.
  void waitLazily(std::uint64_t& seen, int polls) {
    const std::uint64_t before = seen;
    seen = monitor();
    if (seen == before && !waitOnce(before, polls)) seen = monitor();
  }

 private:
  // Pushes an element and waits at its gate. Returns false if the sequence had changed after the push: then the element
  // was taken off again. Undoing the push would spare nothing, since the waiters below have to look again too.
  bool waitOnce(std::uint64_t seen, int polls) {
    ChainElement<Orders> element;
    ChainElement<Orders>* const below = chain.exchange(&element);
    const bool changed = monitor() != seen;
    if (!changed) {
      element.gate.await(polls);
    } else if (!element.gate.saysOpen()) {
      ChainElement<Orders>* const newer = chain.exchange(nullptr);
      poke(below, polls);
      poke(newer, polls);
      element.gate.await(polls);
      return false;
    }
    poke(below, polls);
    return !changed;
  }
};

struct SequenceChannel {
  std::atomic<std::uint32_t> sequence{0};
  std::atomic<std::uint32_t> sleepers{0};

  std::uint64_t monitor() const { return sequence.load(); }

  void signal(int) {
    sequence.fetch_add(1);
    if (sleepers.load() != 0) futexWakeAll(&sequence);
  }

  void wait(std::uint64_t seen, int polls) {
    for (; polls > 0; spend(polls)) {
      if (monitor() != seen) return;
      pauseBriefly();
    }
    sleepers.fetch_add(1);
    while (monitor() == seen) futexWait(&sequence, static_cast<std::uint32_t>(seen));
    sleepers.fetch_sub(1);
  }
};

// A semaphore over channels. Form is one of those below.
template <class Form>
class ChannelFutex {
 public:
  static constexpr const char* name = Form::name;
  static constexpr bool spins = true;
  static constexpr bool hasThreshold = false;
  static constexpr int defaultSpin = 1000;

  ChannelFutex(unsigned permits, const Knobs& knobs) : grant_(permits), spin_(knobs.spin.value_or(defaultSpin)) {}

  std::uint64_t acquire() {
    const std::uint64_t ticket = ticket_.fetch_add(1);
    if (grant_.load() <= ticket) [[unlikely]] wait(ticket);
    return ticket;
  }

  void release() { slotOf<typename Form::Channel>(this, grant_.fetch_add(1)).signal(spin_); }

 private:
  [[gnu::noinline]] void wait(std::uint64_t ticket) {
    Form::waitUntil(slotOf<typename Form::Channel>(this, ticket), spin_, [&] { return grant_.load() > ticket; });
  }

  alignas(sectorSize) std::atomic<std::uint64_t> ticket_{0};
  std::atomic<std::uint64_t> grant_;
  alignas(sectorSize) const int spin_;
};

template <class ChannelType>
struct ByMonitor {
  using Channel = ChannelType;

  template <class Satisfied>
  static void waitUntil(Channel& channel, int polls, Satisfied satisfied) {
    for (;;) {
      const std::uint64_t seen = channel.monitor();
      if (satisfied()) return;
      channel.wait(seen, polls);
    }
  }
};

template <class Orders>
struct OverChains : ByMonitor<ChainChannel<Orders>> {
  static constexpr const char* name = Orders::printed ? "channel-futex+printedOrders" : "channel-futex";
};

struct OverSequences : ByMonitor<SequenceChannel> {
  static constexpr const char* name = "channel-sequence-futex";
};

struct Lazily {
  using Channel = ChainChannel<SequentialOrders>;

  static constexpr const char* name = "channel-lazy-futex";

  template <class Satisfied>
  static void waitUntil(Channel& channel, int polls, Satisfied satisfied) {
    // No channel comes to this sequence, so the first call only reads.
    std::uint64_t seen = ~std::uint64_t{0};
    while (!satisfied()) channel.waitLazily(seen, polls);
  }
};

#endif
