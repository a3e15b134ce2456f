/**
 * Reads what the processes of a run have noted, and checks whether the objects have kept their promises:
 *
 *   - each object is a semaphore that serves requests in the order in which they reach the server (fifo.ts). A mutex
 *     that passes its lock on within a process serves requests in the order of their tokens;
 *   - tokens rise: a request that begins after another one was granted gets a larger token, and no two tokens are the
 *     same;
 *   - no waiter of a mutex is overtaken more than `bypass` times.
 *
 * A fault may lose the last writes of the server. Then the data have another history, and the promises hold for the
 * grants of each history by itself. Tokens rise over all histories, unless two primaries serve at once. When a history
 * begins, the tickets leap, by 2^24 or to a number made from the time. The tickets of requests that already wait leap,
 * too. So the tickets tell the histories apart.
 */
import { readFileSync } from 'node:fs';
import { Fifo, type What } from './fifo.js';
import { linearize, type Operation } from './linearizable.js';
import type { Plan } from './plan.js';

interface GiveBack {
  readonly call: number;
  end: number;
  readonly k: number;
}

export interface Asked {
  readonly process: number;
  readonly id: string;
  readonly name: string;
  readonly n: number;
  readonly tries: boolean;
  readonly call: number;
  /** The server's name of the request, once it is granted. */
  rid: string;
  /** When the request was made, or when it was last refused or cut off. Then it is sent again, behind others. */
  askedAt: number;
  /** When the process knew that the request has its permits, or that it does not get them. */
  end: number;
  outcome: 'pending' | 'granted' | 'refused' | 'late' | 'aborted' | 'lost' | 'failed';
  token: bigint;
  session: string;
  /** When the process last looked and held. */
  heldAt: number;
  lost: boolean;
  readonly gives: GiveBack[];
  /** The history of the server's data to which the token belongs. */
  epoch: number;
  /** From when on the request certainly stood in the queue: its process had the answer to a later request then. */
  knownAt: number;
}

const OUTCOMES = { R: 'refused', T: 'late', A: 'aborted', L: 'lost', E: 'failed' } as const;

/** Reads what one process has noted. The last line of a process that was killed may be missing or cut off. */
export function readHistory(file: string, process: number): Asked[] {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // The process was killed before it noted anything.
  }
  return parseHistory(text, process);
}

export function parseHistory(text: string, process: number): Asked[] {
  const asked = new Map<string, Asked>();
  const gives = new Map<string, GiveBack>();
  const refused = new Map<string, number>();
  const lines = text.split('\n');
  lines.pop();
  for (const line of lines) {
    const [kind = '', id = '', ...words] = line.split(' ');
    if (kind === 'a') {
      const [name = '', n, tries, call] = words;
      asked.set(id, {
        ...{ process, id, name, n: Number(n), tries: tries === '1', call: Number(call), end: Infinity },
        ...{ outcome: 'pending', token: 0n, session: '', heldAt: Number(call), lost: false, gives: [] },
        ...{ epoch: 0, knownAt: Infinity, rid: '', askedAt: Number(call) },
      });
      continue;
    }
    if (kind === 'n') {
      refused.set(id, Number(words[0]));
      continue;
    }
    const request = asked.get(id);
    if (!request) throw new Error(`the history of process ${process} names an unknown request: ${line}`);
    const at = Number(words[0]);
    switch (kind) {
      case 'g':
        request.end = at;
        request.outcome = 'granted';
        request.token = BigInt(words[1] as string);
        request.session = words[2] as string;
        request.rid = words[3] ?? '';
        break;
      case 'f':
        request.end = at;
        request.outcome = OUTCOMES[words[1] as keyof typeof OUTCOMES];
        break;
      case 'l':
        request.heldAt = at;
        break;
      case 'b': {
        const give = { call: at, end: Infinity, k: Number(words[1]) };
        request.heldAt = at;
        request.gives.push(give);
        gives.set(words[2] as string, give);
        break;
      }
      case 'e':
        (gives.get(words[1] as string) as GiveBack).end = at;
        break;
      case 'x':
        request.lost = true;
        break;
      default:
        throw new Error(`the history of process ${process} has an unknown line: ${line}`);
    }
  }
  for (const request of asked.values()) {
    request.askedAt = Math.max(request.call, refused.get(request.rid) ?? 0);
  }
  return [...asked.values()];
}

/** Far more tickets than lie between two grants of one history, and far fewer than a new history leaps. */
const ANOTHER_HISTORY = (1n << 16n) * 4096n;

/**
 * Tells the histories of the server's data apart. Also finds for each request the time from which it certainly stood in
 * the queue: the time at which a later request of the same session was answered. For the server handles the requests of
 * a session in their order.
 *
 * `forgets` says that the server may forget the script. Then the server refuses a call, and the refused call has done
 * nothing. The server may run the next call of the same connection, if another client has brought the script meanwhile.
 * The refused call is sent again, behind the next call. So with `forgets` the answer to a later request proves nothing
 * about an earlier request, unless the tickets or the times show that the earlier one came first.
 */
export function relate(all: readonly Asked[], inOrder: ReadonlySet<string>, forgets = false): void {
  const granted = all.filter(({ outcome }) => outcome === 'granted');
  let epoch = 0;
  let before: bigint | undefined;
  for (const request of granted.sort(byToken)) {
    if (before !== undefined && request.token - before > ANOTHER_HISTORY) epoch++;
    request.epoch = epoch;
    before = request.token;
  }
  const groups = new Map<string, Asked[]>();
  for (const request of granted) {
    const key = `${request.process} ${request.session} ${request.epoch}`;
    const group = groups.get(key);
    if (group) group.push(request);
    else groups.set(key, [request]);
  }
  for (const group of groups.values()) {
    const later: Asked[] = [];
    // Several requests may begin at the same time. Their numbers tell in which order.
    for (const request of group.sort((one, other) => other.call - one.call || Number(other.id) - Number(one.id))) {
      for (const { token, call, end } of later) {
        if (!forgets || token > request.token || call > request.askedAt)
          request.knownAt = Math.min(request.knownAt, end);
      }
      // A process may pass a mutex on without the server, so a grant of a mutex proves nothing.
      if (inOrder.has(request.name)) later.push(request);
    }
  }
}

export interface Finding {
  readonly object: string;
  readonly fault: string;
}

export interface Checked {
  readonly faults: Finding[];
  /** How many refusals were checked for a reason. */
  refusals: number;
  overtaken: number;
  epochs: number;
}

/**
 * A time in which two servers were primaries: from the moment when the replica was promoted, to the moment when the
 * processes left the old primary. Both servers have the queue as it was before, so both may serve the requests in it:
 * the old primary while the processes work with it, and the new one later. The new primary may then still count a
 * session as a holder that the old primary has long taken for dead.
 */
export interface Fork {
  readonly from: number;
  readonly to: number;
}

export interface Circumstances {
  /** Whether the faults of the run lose nothing that the server has answered. */
  readonly keeps: boolean;
  /**
   * Whether two primaries may have served at once. Each then has a history of its own, and only fencing keeps the
   * holders of the two apart.
   */
  readonly splits?: boolean | undefined;
  readonly forks?: readonly Fork[];
  /** Whether no process was killed and no session has ended. Then the history shows a reason for each refusal. */
  readonly isExact: boolean;
}

/** Checks what all processes have noted of one object. */
export function checkObject(
  plan: Plan,
  all: readonly Asked[],
  { keeps, splits, forks = [], isExact }: Circumstances,
  into: Checked,
): void {
  const mine = all.filter(({ name }) => name === plan.name);
  const fault = (text: string): void => void into.faults.push({ object: plan.name, fault: text });
  const granted = mine.filter(({ outcome }) => outcome === 'granted').sort(byToken);

  for (const [i, request] of granted.entries()) {
    if (i > 0 && granted[i - 1]?.token === request.token) fault(`two have the token ${request.token}`);
  }
  // A request that either of two servers may have served belongs to neither history, so it is left out. This makes no
  // history look wrong: without such a request, the others get their permits no later.
  const certain = granted.filter(({ call, end }) => !forks.some(({ from, to }) => call < to && end > from));
  if (plan.kind === 'mutex') into.overtaken = Math.max(into.overtaken, checkBypass(plan, certain, fault));

  const epochs = [...new Set(certain.map(({ epoch }) => epoch))];
  if (splits)
    for (const each of epochs)
      checkTokens(
        granted.filter(({ epoch }) => epoch === each),
        fault,
      );
  else checkTokens(granted, fault);
  into.epochs = Math.max(into.epochs, epochs.length);
  const histories = keeps ? [certain] : epochs.map((epoch) => certain.filter((request) => request.epoch === epoch));
  const refused = keeps && isExact ? refusalsOf(mine, all) : [];
  into.refusals += refused.length;
  for (const history of histories) {
    const operations = operationsOf(plan, history);
    for (const { call, end, n } of refused) operations.push({ call, end, what: { is: 'refused', n } });
    const model = new Fifo(
      plan.max,
      history.map(({ n }) => n),
    );
    const verdict = linearize(operations, model);
    if (verdict.is === 'not decided') fault('the search for an order has not ended');
    if (verdict.is === 'not linearizable') {
      const { what, call, end } = verdict.stuck;
      const request = 'i' in what ? history[what.i] : undefined;
      const who = request ? ` of process ${request.process}, request ${request.id}, token ${request.token}` : '';
      const near = history.filter((other) => other.end >= call && other.call <= end).slice(0, 12);
      const shown = near.map(({ process, id, n, call, end, heldAt, lost, gives, token }) =>
        JSON.stringify({ process, id, n, call, end, heldAt, lost, gives, token: `${token}` }),
      );
      fault(`not linearizable: ${JSON.stringify(what)}${who} between ${call} and ${end}; near it ${shown.join(' ')}`);
    }
  }
}

function operationsOf(plan: Plan, history: readonly Asked[]): Operation<What>[] {
  const operations: Operation<What>[] = [];
  const passes = plan.bypass > 0;
  for (const [i, { call, end, knownAt, heldAt, gives, n }] of history.entries()) {
    operations.push({ call, end: passes ? end : Math.min(end, knownAt), what: { is: 'ask', i } });
    operations.push({ call, end, what: { is: 'got', i } });
    let left = n;
    for (const { call, end, k } of gives) {
      operations.push({ call, end, what: { is: 'give', i, k } });
      left -= k;
    }
    // The process was killed, or has lost its lease. At some time after it last held, the server frees the rest.
    if (left > 0) operations.push({ call: heldAt, end: Infinity, what: { is: 'give', i, k: left } });
  }
  return operations;
}

/** Checks that a request that begins after another was granted has a larger token. */
function checkTokens(granted: readonly Asked[], fault: (text: string) => void): void {
  const ends = [...granted].sort((one, other) => one.end - other.end);
  let at = 0;
  let largest = -1n;
  for (const request of [...granted].sort((one, other) => one.call - other.call)) {
    while (at < ends.length && (ends[at] as Asked).end < request.call) {
      const { token } = ends[at++] as Asked;
      if (token > largest) largest = token;
    }
    if (request.token <= largest) fault(`the token ${request.token} was given after ${largest}`);
  }
}

/** Returns how often the most overtaken waiter was overtaken by requests made while it certainly waited. */
function checkBypass({ bypass }: Plan, granted: readonly Asked[], fault: (text: string) => void): number {
  let most = 0;
  for (const [i, request] of granted.entries()) {
    if (request.knownAt >= request.end) continue;
    let overtaken = 0;
    for (let j = Math.max(0, i - 1000); j < i; j++) {
      const other = granted[j] as Asked;
      if (other.epoch === request.epoch && other.call > request.knownAt) overtaken++;
    }
    most = Math.max(most, overtaken);
    if (overtaken > bypass) fault(`a waiter was overtaken ${overtaken} times (token ${request.token})`);
  }
  return most;
}

/**
 * Returns the refusals that can be checked: those whose reason can only be a request that the history shows. A request
 * that was given up may be an invisible reason: the history does not show how long it stays in the queue. It is gone
 * when its process has sent two later requests, one after the other, and got the answers of the server.
 */
function refusalsOf(mine: readonly Asked[], all: readonly Asked[]): Asked[] {
  const answered = new Map<number, Asked[]>();
  for (const request of all) {
    if (request.outcome !== 'refused' && !(request.outcome === 'granted' && request.token % 4096n === 0n)) continue;
    const list = answered.get(request.process);
    if (list) list.push(request);
    else answered.set(request.process, [request]);
  }
  for (const list of answered.values()) list.sort((one, other) => one.call - other.call);
  const nextAnswer = (process: number, after: number): number => {
    const list = answered.get(process) ?? [];
    let [low, high] = [0, list.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((list[middle] as Asked).call > after) high = middle;
      else low = middle + 1;
    }
    let soonest = Infinity;
    for (let i = low; i < Math.min(list.length, low + 20); i++) soonest = Math.min(soonest, (list[i] as Asked).end);
    return soonest;
  };
  const shadows = mine
    .filter(({ outcome }) => outcome !== 'granted' && outcome !== 'refused')
    .map(({ process, call, end }) => ({ from: call, to: nextAnswer(process, nextAnswer(process, end)) }))
    .sort((one, other) => one.from - other.from);
  let at = 0;
  let until = -1;
  return mine
    .filter(({ outcome }) => outcome === 'refused')
    .sort((one, other) => one.end - other.end)
    .filter(({ call, end }) => {
      while (at < shadows.length && (shadows[at] as { from: number }).from <= end) {
        until = Math.max(until, (shadows[at++] as { to: number }).to);
      }
      return until < call;
    });
}

function byToken(one: Asked, other: Asked): number {
  return one.token < other.token ? -1 : one.token > other.token ? 1 : 0;
}
