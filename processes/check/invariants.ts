/** What must hold of the data after each call, and of the step that a call makes. See the head of src/script/turn.lua. */
import type { Data } from './data-model.js';
import type { Reply, Turn } from './server.js';

export interface SharedObject {
  readonly name: string;
  readonly kind: string;
  readonly max: number;
  readonly robust: boolean;
  readonly ephemeral: boolean;
  readonly born: string;
  readonly free: number;
  readonly waiting: number;
  readonly deaths: number;
  readonly bypass: number;
  readonly passes: number;
  readonly lent: number;
  readonly noticed: boolean;
  /** sid and rid. */
  readonly holder: string;
}

/** A record or an entry of the queue. */
export interface Ask {
  readonly sid: string;
  readonly rid: string;
  readonly ticket: string;
  readonly n: number;
  readonly name: string;
}

export interface Entry extends Ask {
  readonly p0: number;
  /** The time of the last beat before the request, in milliseconds. */
  readonly beaten: number;
}

export function objectsOf(data: Data): Map<string, SharedObject> {
  const objects = new Map<string, SharedObject>();
  for (const [name, text] of data.hash('objects')) {
    if (name.includes('\0')) continue;
    const [kind = '', max, robust, ephemeral, born = '', free, waiting, deaths, bypass, passes, lent, noticed, holder] =
      text.split(' ');
    objects.set(name, {
      name,
      kind,
      max: Number(max),
      robust: robust === '1',
      ephemeral: ephemeral === '1',
      born,
      free: Number(free),
      waiting: Number(waiting),
      deaths: Number(deaths),
      bypass: Number(bypass ?? 0),
      passes: Number(passes ?? 0),
      lent: Number(lent ?? 0),
      noticed: noticed === '1',
      holder: holder ?? '-',
    });
  }
  return objects;
}

/** The deaths of which a holder has been told: by name and ticket. */
export function notesOf(data: Data): Map<string, number> {
  const notes = new Map<string, number>();
  for (const [field, count] of data.hash('objects')) if (field.includes('\0')) notes.set(field, Number(count));
  return notes;
}

export function recordsOf(data: Data): Ask[] {
  return data.sorted('records').map(({ member }) => ({
    sid: member.slice(0, 16),
    rid: member.slice(16, 26),
    ticket: member.slice(26, 40),
    n: Number.parseInt(member.slice(40, 48), 16),
    name: member.slice(48),
  }));
}

/** The objects of which grants are left. */
export const leftOf = (data: Data): string[] =>
  data.sorted('queue').flatMap(({ member }) => (member[0] === '\0' ? [member.slice(1)] : []));

export function queueOf(data: Data): Entry[] {
  const entries = data.sorted('queue').filter(({ member }) => member[0] !== '\0');
  return entries.map(({ member }) => {
    const at = member.indexOf('\0');
    const rest = member.slice(at + 1);
    return {
      name: member.slice(0, at),
      ticket: rest.slice(0, 14),
      sid: rest.slice(14, 30),
      rid: rest.slice(30, 40),
      n: Number.parseInt(rest.slice(40, 48), 16),
      p0: Number.parseInt(rest.slice(48, 62), 16),
      beaten: Number.parseInt(rest.slice(62, 73), 16),
    };
  });
}

const idOf = (ask: Ask): string => `${ask.sid}${ask.rid}${ask.ticket}`;

/** Records that hold permits of an object that there is: without an entry in the queue, and not older than the object. */
export function heldOf(data: Data): Ask[] {
  const queued = new Set(queueOf(data).map(idOf));
  const objects = objectsOf(data);
  return recordsOf(data).filter((record) => {
    const object = objects.get(record.name);
    return object !== undefined && record.ticket > object.born && !queued.has(idOf(record));
  });
}

/** What is wrong with the data: undefined if nothing is. */
export function faultOf(data: Data): string | undefined {
  const objects = objectsOf(data);
  const records = recordsOf(data);
  const queue = queueOf(data);
  const held = heldOf(data);
  const known = new Set(records.map(idOf));
  const notes = notesOf(data);
  const requests = new Set<string>();
  const left = new Set(leftOf(data));
  for (const record of records) {
    if (requests.has(record.sid + record.rid)) return `two records of one request ${record.rid}`;
    requests.add(record.sid + record.rid);
  }
  for (const entry of queue) {
    if (!known.has(idOf(entry))) return `I2: an entry of ${entry.name} without its record`;
    if (!objects.has(entry.name)) return `an entry of ${entry.name}, which there is not`;
  }
  for (const object of objects.values()) {
    const { name, max, free, waiting } = object;
    const mine = held.filter((record) => record.name === name);
    const sum = mine.reduce((total, record) => total + record.n, 0);
    if ((free < 0 && object.kind !== 'r') || free + sum !== max)
      return `I1: ${name} has ${free} free and ${sum} held of ${max}`;
    const entries = queue.filter((entry) => entry.name === name);
    if (entries.length !== waiting) return `I3: ${name} counts ${waiting} waiting, and there are ${entries.length}`;
    const [head] = entries;
    if (head && head.n <= free && !left.has(name))
      return `I4: the head of ${name} waits for ${head.n} with ${free} free`;
    if (object.ephemeral && free === max && waiting === 0 && object.deaths === 0) return `${name} is kept for nothing`;
    if (!object.robust && object.deaths > 0) return `${name} counts deaths`;
    if (object.kind === 'm') {
      const [holder] = mine;
      if (object.holder !== (holder ? holder.sid + holder.rid : '-')) return `${name} names a wrong holder`;
      if (!holder && object.lent > 0) return `${name} has lent passes to nobody`;
      // No waiter can be overtaken more than `bypass` times: what was lent is used at most.
      for (const entry of entries)
        if (object.passes + object.lent > entry.p0 + object.bypass)
          return `${name}: a waiter may be overtaken too often`;
    }
  }
  const readers = new Map<string, number>();
  for (const told of data.hash('sessions').values()) {
    const field = `reads${told.split(' ')[1]}`;
    readers.set(field, (readers.get(field) ?? 0) + 1);
  }
  for (const [field, count] of data.hash('meta'))
    if (field.startsWith('reads') && Number(count) !== (readers.get(field) ?? 0)) return `${field} is ${count}`;
  for (const field of readers.keys()) if (!data.hash('meta').has(field)) return `${field} is not counted`;
  for (const field of notes.keys()) {
    const [name = '', ticket = ''] = field.split('\0');
    const holder = records.find((record) => record.name === name && record.ticket === ticket);
    if (!holder) return `deaths of ${name} were told to nobody`;
  }
  return undefined;
}

/** What a step is found to be whose script raises an error. */
export const SCRIPT_FAILS = 'the script fails';

/** A grant that a call has made. */
export interface Grant extends Ask {
  readonly deaths: number;
}

const deathsOf = (data: Data, name: string): number => {
  const object = objectsOf(data).get(name);
  let sum = object?.deaths ?? 0;
  // Who holds of an earlier object of the name may have been told of deaths too.
  for (const [field, count] of notesOf(data)) {
    const [of, ticket = ''] = field.split('\0');
    if (of === name && ticket > (object?.born ?? '')) sum += count;
  }
  return sum;
};

/** What one call has granted, and what is wrong with it. */
export function stepOf(
  before: Data,
  turn: Turn,
  args: readonly string[],
): { granted: readonly Grant[]; fault: string | undefined } {
  const after = turn.data;
  const held = new Set(heldOf(before).map(idOf));
  const notes = notesOf(after);
  const granted = heldOf(after)
    .filter((record) => !held.has(idOf(record)))
    .map((record) => ({ ...record, deaths: notes.get(`${record.name}\0${record.ticket}`) ?? 0 }));
  return { granted, fault: stepFault(before, turn, args, granted) };
}

function stepFault(before: Data, turn: Turn, args: readonly string[], granted: readonly Grant[]): string | undefined {
  const after = turn.data;
  const { reply } = turn;
  if (!Array.isArray(reply)) return typeof reply === 'object' && reply ? `${SCRIPT_FAILS}: ${reply.error}` : 'no list';
  const sid = args[0] as string;
  // Who asked first is served first.
  const waiting = queueOf(after);
  const places = new Map(queueOf(before).map((entry) => [entry.sid + entry.rid, entry.ticket]));
  for (const { name, sid, rid, ticket } of granted) {
    const place = places.get(sid + rid) ?? ticket;
    if (waiting.some((entry) => entry.name === name && entry.ticket < place))
      return `I5: ${name} is granted past a waiter`;
  }
  // New tickets are larger than all before. Who has waited since an earlier history gets one between that and this one.
  const meta = before.hash('meta');
  const next = after.hash('meta');
  const last = Number(meta.get('ticket') ?? 0);
  const renewed = meta.get('leapt') === next.get('leapt') ? Number(meta.get('late')) : last;
  const leapt = Number.parseInt(next.get('leapt') ?? '0', 16);
  const tickets = new Set(recordsOf(before).map((record) => record.ticket));
  for (const { sid, rid, ticket } of recordsOf(after)) {
    if (tickets.has(ticket)) continue;
    const number = Number.parseInt(ticket, 16);
    const place = Number.parseInt(places.get(sid + rid) ?? ticket, 16);
    if (place > leapt ? number <= last : number <= renewed || number > leapt) return 'a ticket is not new';
  }
  for (const { sid, rid, ticket, name } of granted)
    if (places.get(sid + rid) === ticket && Number.parseInt(ticket, 16) <= leapt)
      return `${name}: an old ticket is granted`;
  if (Number(next.get('ticket') ?? 0) < last) return 'tickets go back';
  // Who holds a mutex and may pass it on is told that others wait: of the first of them, and at the grant how many wait.
  const entries = new Set(queueOf(before).map(idOf));
  for (const { name, lent, noticed, holder } of objectsOf(after).values()) {
    const was = objectsOf(before).get(name);
    const others = waiting.some(
      (entry) => entry.name === name && entry.sid !== holder.slice(0, 16) && !entries.has(idOf(entry)),
    );
    if (was?.holder !== holder || was.noticed || lent === 0 || !others) continue;
    const note = `!${holder.slice(16)}`;
    if (
      !noticed ||
      !turn.published.some(({ channel, text }) => channel.endsWith(holder.slice(0, 16)) && text.includes(note))
    )
      return `${name}: the holder is not told that others wait`;
  }
  // Each grant is told: in the reply to its own session, or in a message with its next number.
  const told = new Map<string, number>();
  const hear = (to: string, text: string): void => {
    const [ticket, deaths] = text
      .replace(/^H /, '')
      .slice(text.startsWith('H ') ? 0 : 11)
      .split(':');
    told.set(`${to} ${ticket}`, Number(deaths));
  };
  for (const answer of reply.flat(3) as Reply[])
    if (typeof answer === 'string' && /^(H |[\da-f]{10}:)[\da-f]{14}:\d+:\d+:\d+/.test(answer)) hear(sid, answer);
  for (const { channel, text, sharded } of turn.published) {
    const to = channel.slice(-16);
    if (to === sid) return 'a message to the caller';
    if (sharded !== (to[0] === 's')) return 'a message of the wrong kind';
    if (!after.hash('seqs').has(to)) return 'a message to a session that has ended';
    const [seq, list = ''] = [text.split(';')[0], text.slice(text.indexOf(';') + 1)];
    if (Number(seq) !== Number(before.hash('seqs').get(to)) + 1) return 'I6: a message without the next number';
    if (seq !== after.hash('seqs').get(to)) return 'I6: a message that is not counted';
    for (const item of list.split(',')) if (/^[\da-f]{10}:[\da-f]{14}:/.test(item)) hear(to, item);
  }
  for (const [to, seq] of after.hash('seqs')) {
    const was = before.hash('seqs').get(to);
    if (to !== sid && was !== undefined && seq !== was && !turn.published.some(({ channel }) => channel.endsWith(to)))
      return 'I6: a number is used without a message';
  }
  for (const grant of granted) {
    if (!after.hash('sessions').has(grant.sid)) continue; // it has died and is being reaped
    const deaths = told.get(`${grant.sid} ${grant.ticket}`);
    if (deaths === undefined) return `I6: ${grant.name} is granted, and nobody is told`;
    if (deaths !== grant.deaths) return `${grant.name}: ${deaths} deaths were told, and ${grant.deaths} noted`;
  }
  return deathFault(before, after, args);
}

/** Deaths are neither made nor lost, but by the operations that are for it. Looks at calls of one operation only. */
function deathFault(before: Data, after: Data, args: readonly string[]): string | undefined {
  const [sid = '', , , op, name, rid, ticket, , , note] = args;
  for (const object of objectsOf(before).values()) {
    if (!object.robust || !objectsOf(after).has(object.name)) continue;
    const was = deathsOf(before, object.name);
    const is = deathsOf(after, object.name);
    const heldBefore = heldOf(before).filter((record) => record.name === object.name);
    if (op === 'B' || op === 'O') {
      // What has gone was held by the dead. Behind O, an S may end what the caller itself has given back.
      const heldAfter = new Set(recordsOf(after).map(idOf));
      const mayEnd = args.includes('S') ? sid : undefined;
      const died = heldBefore.filter((record) => record.sid !== mayEnd && !heldAfter.has(idOf(record))).length;
      const born = heldOf(after).length;
      // A grant to a session that dies in the same call dies with it, and counts too.
      if (is < was + died || (is > was + died && born === heldBefore.length && object.waiting === 0))
        return `${object.name}: ${died} deaths, and ${is - was} were counted`;
    } else if (op === 'D' && name === object.name) {
      const mine = heldBefore.some((each) => each.sid === sid && each.rid === rid && each.ticket === ticket);
      const noted = notesOf(before).get(`${name}\0${ticket}`) ?? 0;
      const due = !mine ? 0 : note === 'c' ? -noted : note === 'd' ? 1 : 0;
      if (is - was !== due) return `${object.name}: D changes the deaths by ${is - was}, not ${due}`;
    } else if (op === 'F' && name === object.name) {
      const due = heldBefore.some((each) => each.rid === rid && each.ticket === ticket && each.sid === args[7]) ? 1 : 0;
      if (is - was !== due) return `${object.name}: F changes the deaths by ${is - was}, not ${due}`;
    } else if (is !== was) return `${object.name}: ${op} changes the deaths by ${is - was}`;
  }
  return undefined;
}
