/**
 * Of whom a broker must know that they live before it answers a call: an answer that says no, or that names a holder or
 * a waiter, would be wrong if these have died. A call that only gets or gives back asks nobody.
 */
import { operations } from './grammar.js';
import type { State } from './state.js';

/** Those who hold or wait for something, or all that have a session. */
export type Doubt = 'parties' | 'all';

/** Where a call has the first operation whose answer is in doubt, and who must be known to live for it. */
export interface Doubtful {
  readonly at: number;
  readonly doubt: Doubt;
}

/** Undefined: the answers are right whoever lives. The call must be one that the grammar allows. */
export function doubtIn(state: State, args: readonly string[]): Doubtful | undefined {
  const sid = args[0] as string;
  let isResized = false;
  let asked: Map<string, number> | undefined;
  // The requests of this call that may have to wait.
  let waits: Set<string> | undefined;
  // The place of an operation that opens an object, and where the operation behind it is.
  let [opening, opened] = [-1, -1];
  for (const at of operations(args)) {
    const [letter = '', first = '', second = '', third = '', fourth = ''] = args.slice(at, at + 5);
    switch (letter) {
      case 'A':
      case 'T': {
        const object = state.object(first);
        const permits = Number.parseInt(fourth, 16);
        if (!object || (second !== '-' && second !== object.born) || permits > object.max) break;
        const wanted = permits + (asked?.get(first) ?? 0);
        if ((isResized || object.waiting > 0 || wanted > object.free) && !state.request(sid, third)) {
          // What opens an ephemeral object (N) goes with the request: meanwhile the object may be idle, and forgotten.
          if (letter === 'T') return { at: at === opened ? opening : at, doubt: 'parties' };
          waits ??= new Set();
          waits.add(third);
        }
        asked ??= new Map();
        asked.set(first, wanted);
        break;
      }
      case 'N':
        [opening, opened] = [at, at + 7];
        break;
      case 'R':
        isResized = true;
        break;
      case 'C':
        // The time-out has passed, or the caller has given up.
        if (waits?.has(first) || state.request(sid, first) === 'waits') return { at, doubt: 'parties' };
        break;
      case 'V':
      case 'F':
        if (state.request(fourth, second)) return { at, doubt: 'parties' };
        break;
      case 'I': {
        const object = state.object(first);
        if (object && (object.free < object.max || object.waiting > 0)) return { at, doubt: 'parties' };
        break;
      }
      case 'P':
        return { at, doubt: 'parties' };
      case 'J':
        return { at, doubt: 'all' };
      case 'O': {
        const [version, partitions, lease] = state.agreed;
        // Other settings are refused as long as there are sessions with the present ones.
        if (args[1] !== '0' || version === undefined) break;
        if (first !== version || second !== partitions || third !== lease) return { at, doubt: 'all' };
        break;
      }
    }
  }
  return undefined;
}

/** A call in two. */
export type Parts = readonly [readonly string[], readonly string[]];

/**
 * The operations of a call before this place, and those from there on. So who asks to get something and to know
 * something in one call gets in line at once, and hears later. Undefined: there are none before this place.
 */
export function split(args: readonly string[], at: number): Parts | undefined {
  const FIRST = 3;
  if (at === FIRST) return undefined;
  return [args.slice(0, at), [...args.slice(0, FIRST), ...args.slice(at)]];
}

/** The session is gone: the reply is this alone. */
const GONE = /^(DEAD|STALE)$/;

/** The reply to a call from those to its parts: the answers, and then the news. */
export function joined([first, second]: Parts, before: readonly unknown[], after: readonly unknown[]): unknown[] {
  const [n, m] = [[...operations(first)].length, [...operations(second)].length];
  if (before.length < n || GONE.test(`${before[0]}`)) return [...before];
  if (after.length < m || GONE.test(`${after[0]}`)) return [...after];
  return [...before.slice(0, n), ...after.slice(0, m), ...before.slice(n), ...after.slice(m)];
}

/** The members that the doubt is about. */
export function inDoubt(state: State, doubt: Doubt): Set<string> {
  const members = new Set<string>();
  for (const [sid, member] of state.members) if (doubt === 'all' || state.hasRequests(sid)) members.add(member);
  return members;
}
