/**
 * The messages in the models of channels. Message k of thread t has the number 8t + k. This file writes them to places
 * and reads them there, and counts them at the end.
 */
import { Violation } from '../../engine/search/violation.js';
import { constant, E_HELD } from '../../scene/layout.js';
import type { Scene } from '../../scene/scene.js';
import { PROMISES } from '../../scene/words.js';
import { type Ends, makeEnds, PLACE, recordAt } from './endpoints.js';

const NEXT = constant('P_NEXT');
const DONE = constant('P_DONE');
const DATA = constant('P_DATA');
const LENGTH = constant('PLACE_LENGTH');
const HEAD = constant('PLACE_HEAD');
const HOLE = constant('HOLE');
export const TOOK = constant('E_TOOK');
export const TOOK_COUNT = constant('E_TOOK_COUNT');
export const UNREAD = constant('E_UNREAD');
const E_SENDERS = constant('E_SENDERS');
/** The two words that `sendWord` sends, or that `takeWord` has received. */
export const WORD = constant('E_WORD');

// Words of a thread that outlive an op. Threads in these models have no promises.
/** How many messages the thread has begun to send, and those that it has sent, as bits. */
export const BEGUN = PROMISES;
export const SENT = PROMISES + 1;
/** The messages, as bits, that the thread has received: a word for each sender. */
export const RECEIVED = PROMISES + 2;
/** The messages, as bits, whose sending an exception has cut short: they may have been sent. */
const CUT = PROMISES + 6;
/** The first word behind them. */
export const FREE = PROMISES + 7;

const bits = (n: number): number => n.toString(2).replaceAll('0', '').length;

/** The bytes of a message. */
const BYTES = 8;

export interface Channel extends Ends {
  readonly capacity: number;
}

export const makeChannel = (scene: Scene, capacity: number, spin = 0, senders = 0): Channel => ({
  capacity,
  ...makeEnds(scene, {
    kinds: ['KIND_CHANNEL', 'KIND_RECEIVING_END'],
    permits: capacity,
    places: capacity,
    spin,
    robust: true,
    senders,
  }),
});

/** Returns the address of the place of message i. In the models indices stay small. */
export const placeOf = (scene: Scene, { m, capacity }: Channel, i: number): number =>
  scene.word(m + DATA) + (i % capacity) * PLACE;

export function writeMessage(scene: Scene, t: number, place: number): void {
  const k = scene.get(t, BEGUN);
  scene.set(t, BEGUN, k + 1);
  scene.machine.hostStore32(place + LENGTH, BYTES);
  for (const [i, half] of messageOf(t, k).entries()) scene.machine.hostStore32(place + HEAD + 4 * i, half);
}

/** A message: its number, and the complement of this number. */
export const messageOf = (t: number, k: number): readonly [number, number] => [8 * t + k, ~(8 * t + k)];

/** All messages whose sending the thread has begun are sent, but for those whose sending was cut short. */
export const allSent = (scene: Scene, t: number): void =>
  scene.set(t, SENT, ((1 << scene.get(t, BEGUN)) - 1) & ~scene.get(t, CUT));

/** An exception has cut a call of the thread short. The messages that it has begun to send may have been sent. */
export const sendingIsCut = (scene: Scene, t: number): void =>
  scene.set(t, CUT, ((1 << scene.get(t, BEGUN)) - 1) & ~scene.get(t, SENT));

/** How many messages may have been sent, though their `send` has not returned. */
export const perhapsSent = (scene: Scene): number =>
  scene.threadNumbers.reduce((sum, t) => sum + scene.get(t, BEGUN) - bits(scene.get(t, SENT)), 0);

/** Returns the number of the message at a place, or undefined for a hole. */
export function readMessage(scene: Scene, place: number): number | undefined {
  const length = scene.word(place + LENGTH);
  if (length === HOLE) return undefined;
  if (length !== BYTES) throw new Violation(`a message of ${length} bytes is received`);
  return numberAt(scene, place + HEAD);
}

/** Returns the number of the message at this address. Throws if a thread has received the message, or for no message. */
export function numberAt(scene: Scene, address: number): number {
  const number = scene.word(address);
  if (scene.word(address + 4) !== ~number) throw new Violation(`${number} is received, and is no message`);
  if ((receivedOf(scene, number >> 3) >> (number & 7)) & 1) throw new Violation(`message ${number} is received twice`);
  return number;
}

export function received(scene: Scene, t: number, number: number): void {
  const of = RECEIVED + (number >> 3);
  scene.set(t, of, scene.get(t, of) | (1 << (number & 7)));
}

/** The messages of a sender, as bits, that some thread has received. */
const receivedOf = (scene: Scene, sender: number): number =>
  scene.threadNumbers.reduce((all, t) => all | scene.get(t, RECEIVED + sender), 0);

/** How many messages were sent and not received. */
export const notReceived = (scene: Scene): number =>
  scene.threadNumbers.reduce((sum, t) => sum + bits(scene.get(t, SENT) & ~receivedOf(scene, t)), 0);

/** How many messages are in a channel whose sending is over. */
export function inside(scene: Scene, channel: Channel): number {
  let count = 0;
  for (let i = scene.word(channel.m + NEXT); i < scene.word(channel.f + DONE); i++) {
    const place = placeOf(scene, channel, i);
    const number = scene.word(place + HEAD);
    if (scene.word(place + LENGTH) !== HOLE && (scene.get(number >> 3, SENT) >> (number & 7)) & 1) count++;
  }
  return count;
}

/** Whether a thread may make a plain access to this address: to the words of its attachments that say what it has. */
export const isOwnRecord = (scene: Scene, t: number, { ofF, ofM }: Ends, address: number): boolean =>
  [ofF[t], ofM[t]].some((attachment) => {
    const record = recordAt(scene, attachment as number);
    return [TOOK, TOOK_COUNT, E_SENDERS, UNREAD, E_HELD, WORD].some((offset) => address === record + offset);
  });
