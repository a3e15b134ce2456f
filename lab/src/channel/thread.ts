/**
 * A thread that sends numbers, or receives them: by the channel as long as the page says so, then by postMessage, and so on.
 * Between two messages it works.
 */
import { TimeoutError } from 'taketurns';
import { Channel, type ChannelHandle, ClosedError, number } from 'taketurns/channel';
import type { Job } from '../crew/job.js';
import { ARRIVED, BY, BY_CHANNEL, BY_POST, CHANNEL, POST, STATE, STOP, WAITS, WORKS, wordOf } from './board.js';

export interface ChannelOrder {
  readonly sends: boolean;
  readonly thread: number;
  readonly channel: ChannelHandle;
  /** With each port, the sender at its other end. */
  readonly ports: readonly { readonly port: MessagePort; readonly sender: number }[];
  readonly words: Int32Array;
  /** How long the thread works for each message. Milliseconds. */
  readonly work: number;
}

/** At most so many posted messages of a sender are under way. */
const WINDOW = 1024;
/** A thread that waits looks at word BY after so many milliseconds. */
const LOOK_MS = 50;
/** After so many messages a receiver wakes a sender that waits for room. */
const OFTEN = 64;

export const channelJob: Job<ChannelOrder> = async ({ sends, thread, channel: handle, ports, words, work }) => {
  const channel = Channel.from(handle, number);
  const by = (): number => Atomics.load(words, BY);
  const own = (word: number): number => wordOf(thread, word);

  function spend(phase: number): void {
    // Short work is done at full speed. Long work is a sleep, which ends when the page wants something else.
    if (work >= 1) Atomics.wait(words, BY, phase, work);
    else if (work > 0) for (const end = performance.now() + work; performance.now() < end; );
  }

  /** Waits a while, and says so meanwhile. Returns whether what was waited for has come. */
  function waits(wait: () => unknown): boolean {
    Atomics.store(words, own(STATE), WAITS);
    try {
      wait();
      return true;
    } catch (error) {
      if (error instanceof TimeoutError || error instanceof ClosedError) return false;
      throw error;
    } finally {
      Atomics.store(words, own(STATE), WORKS);
    }
  }

  function byChannel(): void {
    while (by() === CHANNEL && !channel.closed) {
      spend(CHANNEL);
      const isThere = sends ? channel.trySend(1) : channel.tryReceive() !== undefined;
      const wait = (): unknown =>
        sends ? channel.send(1, { timeout: LOOK_MS }) : channel.receive({ timeout: LOOK_MS });
      if (isThere || waits(wait)) Atomics.add(words, own(BY_CHANNEL), 1);
    }
  }

  let posted = 0;
  function posts(): void {
    while (by() === POST) {
      spend(POST);
      const arrived = Atomics.load(words, own(ARRIVED));
      if (posted - arrived >= WINDOW) waits(() => Atomics.wait(words, own(ARRIVED), arrived, LOOK_MS));
      else {
        ports[posted++ % ports.length]?.port.postMessage(1);
        Atomics.add(words, own(BY_POST), 1);
      }
    }
  }

  function listen(): void {
    for (const { port, sender } of ports)
      port.onmessage = () => {
        spend(POST);
        Atomics.add(words, own(BY_POST), 1);
        const arrived = Atomics.add(words, wordOf(sender, ARRIVED), 1);
        if (arrived % OFTEN === 0) Atomics.notify(words, wordOf(sender, ARRIVED));
      };
  }

  return async () => {
    if (!sends) listen();
    while (by() !== STOP) {
      if (by() === CHANNEL) byChannel();
      else if (sends) posts();
      // The event loop has the messages of the ports.
      else await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    for (const { port } of ports) port.close();
  };
};
