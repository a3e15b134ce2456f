/**
 * Mutants of the twin that nothing tells, and why that is right. `text` is part of the compiled line, `from` what is
 * changed, and `to` what it becomes.
 */
import type { Explained } from './mutant.js';

const HOUR = 'tickets may as well rise a moment earlier or later';
const SORTS = 'sorts more often than there is need to, or no other way: no two keys are the same';
const BEGINS = 'the leap with which each state begins replaces it';
const LIMITS = 'the recordings have limits of their own';
const UNIQUE = 'no ticket is given twice, and the one to which the tickets leap is not given at all';
const ALONE = 'a death and a broker that goes on have no caller and no arguments: the state and the session decide';
const AT_ONCE = 'a session is dead only between two parts of its death, and a broker takes all parts in one step';

const OLDEST = 'no broker has data of format 1; it is here because the script has it';

export const EXPLAINED: readonly Explained[] = [
  { text: 'ticket > object.born', from: '>', to: '>=', reason: UNIQUE },
  { text: 'head.ticket <= this.state.leapt', from: '<=', to: '<', reason: UNIQUE },
  { text: 'return false;', to: ';', reason: 'undefined counts as false' },
  { text: 'compareBytes(name, first) < 0', from: '<', to: '<=', reason: 'a set has no name twice' },
  { text: 'compareBytes(name, first) < 0', from: '0', to: '1', reason: 'a set has no name twice' },
  { text: 'return;', to: ';', reason: 'each request that waits is in its queue (state.ts); else a broker would end' },
  { text: "#last = '';", reason: SORTS },
  { text: 'request.rid > this.#last', reason: SORTS },
  { text: '!this.#isSorted', to: 'true', reason: SORTS },
  { text: 'this.#of = new Map([...this.#of].sort(', reason: SORTS },
  { text: 'this.#isSorted = true;', to: ';', reason: SORTS },
  { text: 'ticket = 0;', reason: BEGINS },
  { text: "leapt = '';", reason: BEGINS },
  { text: 'late = 0;', reason: BEGINS },
  { text: 'const HOUR = ', reason: HOUR },
  { text: 'ticketAt(now - HOUR) > this.ticket', from: '>', to: '>=', reason: HOUR },
  { text: 'topmost = 0', reason: 'the time is a far larger number' },
  { text: 'late <= last', from: '<=', to: '<', reason: 'the next ticket is larger than the last one either way' },
  { text: 'const LIMITS = {', reason: LIMITS },
  { text: "new Turn(state, ['', '', ''], '', now, limits).reap(sid)", reason: ALONE },
  { text: "new Turn(state, ['', '', ''], '', now, limits).goOnAlone()", reason: ALONE },
  {
    text: 'if (entry < place)',
    from: '<',
    to: '<=',
    reason: 'a client asks from behind a ticket, so no entry is its place',
  },
  { text: "labelOf(sessions.get(sid), '')", reason: AT_ONCE },
  { text: "labelOf(session, 'dead')", reason: AT_ONCE },
  {
    text: 'requests?.get(rid) !== request',
    to: 'false',
    reason: 'what was turned away is in no list and in no queue any more, so another drop finds nothing',
  },
  {
    text: 'agreed?.version === 1 && others.length > 0',
    reason: OLDEST,
  },
  { text: 'return refuse();', to: ';', reason: OLDEST },
  { text: 'break;', from: 'break;', reason: 'the next range has room for none' },
  { text: "from.startsWith('(')", reason: 'what becomes of -inf is smaller than the sign of each session' },
  { text: "this.caller = '';", reason: 'no session has such a name' },
  { text: 'return this.#beat();', to: ';', reason: 'the next case does the same' },
  {
    text: 'const labelOf = (session, otherwise)',
    from: 'session && !session.isDead',
    reason: `${AT_ONCE}; the sessions of requests exist`,
  },
  { text: 'const labelOf = (session, otherwise)', from: '&&', reason: AT_ONCE },
  { text: 'if (found.length >= this.found)', reason: 'the next range has room for none' },
  { text: 'a.sign < b.sign ? -1 : 1', from: '<', to: '<=', reason: SORTS },
  { text: 'a.sign < b.sign ? -1 : 1', from: '1', reason: SORTS },
];
