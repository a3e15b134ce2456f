/**
 * Of whom a broker must know that they live before it answers a call: an answer that says no, or that names a holder or
 * a waiter, would be wrong if these have died. A call that only gets or gives back asks nobody.
 */
import { operations } from './grammar.js';
import type { State } from './twin/state.js';

/** Those who hold or wait for something, or all that have a session. */
export type Doubt = 'parties' | 'all';

/** Undefined: the answer is right whoever lives. The call must be one that the grammar allows. */
export function doubtIn(state: State, args: readonly string[]): Doubt | undefined {
  const sid = args[0] as string;
  let isResized = false;
  let asked: Map<string, number> | undefined;
  const request = (of: string, rid: string) => state.sessions.get(of)?.requests.get(rid);
  for (const at of operations(args)) {
    const [letter = '', first = '', second = '', third = '', fourth = ''] = args.slice(at, at + 5);
    switch (letter) {
      case 'A':
      case 'T': {
        const object = state.objects.get(first);
        const permits = Number.parseInt(fourth, 16);
        if (!object || (second !== '-' && second !== object.born) || request(sid, third) || permits > object.max) break;
        const wanted = permits + (asked?.get(first) ?? 0);
        if (letter === 'T' && (isResized || object.queue.length > 0 || wanted > object.free)) return 'parties';
        asked ??= new Map();
        asked.set(first, wanted);
        break;
      }
      case 'R':
        isResized = true;
        break;
      case 'C':
        // The time-out has passed, or the caller has given up.
        if (request(sid, first)?.waits) return 'parties';
        break;
      case 'V':
      case 'F':
        if (request(fourth, second)) return 'parties';
        break;
      case 'I': {
        const object = state.objects.get(first);
        if (object && (object.free < object.max || object.queue.length > 0)) return 'parties';
        break;
      }
      case 'P':
        return 'parties';
      case 'J':
        return 'all';
      case 'O': {
        const { agreed } = state;
        // Other settings are refused as long as there are sessions with the present ones.
        if (args[1] !== '0' || !agreed) break;
        if (first !== agreed.version || second !== agreed.partitions || third !== agreed.lease) return 'all';
        break;
      }
    }
  }
  return undefined;
}

/** The members that the doubt is about. */
export function inDoubt({ sessions }: State, doubt: Doubt): Set<string> {
  const members = new Set<string>();
  for (const { member, requests } of sessions.values()) if (doubt === 'all' || requests.size > 0) members.add(member);
  return members;
}
