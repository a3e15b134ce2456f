/**
 * The data of a partition as sorted lines: those that the tables of PostgreSQL have, and those that the keys of the model
 * have. The lines are the same if the data are.
 */
import { unescaped } from '../src/drivers/sql-text.js';
import type { Data } from './data-model.js';

export const hex = (value: number, digits = 14): string => value.toString(16).padStart(digits, '0');
/** The bytes of a text, one character each, as the model has them. */
export const bytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** Numbers as the script packs them, in seven bytes and in four. */
const seven = (value: number): string => {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64BE(BigInt(value));
  return buffer.toString('latin1', 1);
};
const four = (value: number): string => {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32BE(value);
  return buffer.toString('latin1');
};

export interface ObjectRow {
  readonly name: string;
  readonly kind: string;
  readonly max: number;
  readonly robust: boolean;
  readonly ephemeral: boolean;
  readonly born: number;
  readonly free: number;
  readonly waiting: number;
  readonly deaths: number;
  readonly bypass: number;
  readonly passes: number;
  readonly lent: number;
  readonly noticed: boolean;
  readonly holder: string | null;
}

export interface RequestRow {
  readonly sid: string;
  readonly rid: string;
  readonly name: string;
  readonly ticket: number;
  readonly n: number;
  readonly base: number;
  readonly waits: boolean;
  readonly deaths: number;
}

interface RateRow {
  readonly name: string;
  readonly numbers: string;
  readonly given: number;
  readonly following: number;
  readonly latest: number;
  readonly taken: number;
  readonly epoch: number;
  readonly run_dates: number[];
  readonly run_counts: number[];
  readonly hole_dates: number[];
  readonly hole_counts: number[];
  readonly is_rare: boolean;
  readonly resized: number;
  readonly repaired: number;
  readonly paused: number;
  readonly moved: number;
  readonly stopped: number;
  readonly cancelled: number;
  readonly needed: number;
  readonly until: number;
}

export interface Rows {
  readonly partition: {
    readonly v: number | null;
    readonly p: string | null;
    readonly lease: string | null;
    readonly ticket: number;
    readonly history: string | null;
    readonly epoch: number;
    readonly leapt: number;
    readonly late: number;
    readonly began: number | null;
    readonly noticed: string | null;
    readonly beaten: number;
    readonly first: string | null;
    readonly since: number | null;
    readonly shift: number | null;
    readonly seen: number | null;
    readonly timer: string | null;
  };
  readonly sessions:
    | {
        readonly sid: string;
        readonly conn: number | null;
        readonly reads: number;
        label: string;
        seq: number;
        sign: number;
      }[]
    | null;
  readonly objects: ObjectRow[] | null;
  readonly requests: RequestRow[] | null;
  readonly unfinished: { readonly name: string }[] | null;
  readonly rates: RateRow[] | null;
  readonly dated: { sid: string; date: number; given: number; n: number; epoch: number; name: string }[] | null;
}

export const objectText = (o: ObjectRow): string =>
  [
    ...[o.kind, o.max, +o.robust, +o.ephemeral, hex(o.born), o.free, o.waiting, o.deaths],
    ...(o.kind === 'm' ? [o.bypass, o.passes, o.lent, +o.noticed, o.holder ?? '-'] : []),
  ].join(' ');

/** The state of a rate as the script keeps it (rates.lua). */
function rateText(r: RateRow): string {
  const list = (dates: number[], counts: number[]) =>
    dates.map((date, i) => seven(date) + four(counts[i] as number)).join('');
  const head = [r.given, r.following, r.latest, r.taken, r.epoch].map(seven).join('');
  const counts = four(r.run_dates.length) + four(r.hole_dates.length);
  const rare = four(r.resized) + [r.repaired, r.paused, r.moved, r.stopped, r.cancelled, r.needed].map(seven).join('');
  const lists = list(r.run_dates, r.run_counts) + list(r.hole_dates, r.hole_counts);
  return r.numbers + head + counts + lists + (r.is_rare ? rare : '');
}

/** What the tables say, as lines. */
export function linesOfRows(
  { partition: p, sessions, objects, requests, unfinished, rates, dated }: Rows,
  micros: number,
): string[] {
  const lines = [
    `v ${p.v} p ${p.p} lease ${p.lease} ticket ${p.ticket} history ${p.history} epoch ${p.epoch} leapt ${hex(p.leapt)} late ${p.late}`,
    `began ${p.began} lost ${p.noticed} beaten ${hex(p.beaten, 11)} first ${p.first} since ${p.since}`,
    `offset ${p.shift ?? 0} seen ${p.seen} timer ${p.timer}`,
  ];
  for (const s of sessions ?? []) {
    if (s.conn !== null) lines.push(`session ${s.sid} ${s.conn} ${s.reads} ${s.label}`);
    lines.push(`lease ${s.sid} ${s.sign}`, `seq ${s.sid} ${s.seq}`);
  }
  for (const o of objects ?? []) lines.push(`object ${bytes(o.name)} ${objectText(o)}`);
  for (const { sid, rid, name, ticket, n, base, waits, deaths } of requests ?? []) {
    lines.push(`record ${sid}${rid}${hex(ticket)}${hex(n, 8)}${bytes(name)}`);
    if (waits) lines.push(`queue ${bytes(name)}\0${hex(ticket)}${sid}${rid}${hex(n, 8)}${hex(base)}`);
    if (deaths > 0) lines.push(`deaths ${bytes(name)}\0${hex(ticket)} ${deaths}`);
  }
  for (const { name } of unfinished ?? []) lines.push(`queue \0${bytes(name)}`);
  for (const r of rates ?? [])
    if (r.until * 1000 >= micros) lines.push(`rate ${bytes(unescaped(r.name))} ${r.until} ${rateText(r)}`);
  for (const { sid, date, given, n, epoch, name } of dated ?? [])
    lines.push(`record ${sid}r${hex(date)}${hex(given, 9)}${hex(n, 8)}${hex(epoch)}\0${bytes(unescaped(name))}`);
  return lines.sort();
}

/** What the keys of the model say, as the same lines. */
export function linesOfKeys(data: Data, micros: number): string[] {
  const meta = data.hash('meta');
  const at = (field: string, otherwise: unknown = null): unknown => meta.get(field) ?? otherwise;
  const members = (key: string): string[] => data.sorted(key).map(({ member }) => member);
  const lines = [
    `v ${at('v')} p ${at('p')} lease ${at('lease')} ticket ${at('ticket', 0)} history ${at('history')} epoch ${at('epoch', 0)} leapt ${at('leapt', hex(0))} late ${at('late', 0)}`,
    `began ${at('began')} lost ${at('lost')} beaten ${at('beaten', hex(0, 11))} first ${at('first')} since ${at('since')}`,
    `offset ${at('offset', 0)} seen ${at('seen')} timer ${at('timer')}`,
  ];
  for (const [sid, text] of data.hash('sessions')) lines.push(`session ${sid} ${text}`);
  for (const { member, score } of data.sorted('leases')) lines.push(`lease ${member} ${score}`);
  for (const [sid, seq] of data.hash('seqs')) lines.push(`seq ${sid} ${seq}`);
  const records = members('records');
  // A holder that says that it was told of no deaths leaves the note of those of which it was told.
  const held = new Set(records.map((record) => `${record.slice(48)}\0${record.slice(26, 40)}`));
  for (const [name, text] of data.hash('objects'))
    if (!name.includes('\0')) lines.push(`object ${name} ${text}`);
    else if (held.has(name)) lines.push(`deaths ${name} ${text}`);
  for (const record of records) lines.push(`record ${record}`);
  // The tables have the time of each request instead of that of the last beat.
  for (const entry of members('queue')) lines.push(`queue ${entry.startsWith('\0') ? entry : entry.slice(0, -11)}`);
  for (const [key, { text, until }] of data.texts())
    if (until * 1000 >= micros) lines.push(`rate ${key.slice('rate:'.length)} ${until} ${text}`);
  return lines.sort();
}

/** The reply without what only one side knows: times in `I`; and with the objects of `P` in one order. */
export function comparable(reply: unknown): unknown {
  if (!Array.isArray(reply)) return reply;
  return reply.map((answer) => {
    if (!Array.isArray(answer)) return answer;
    if (`${answer[0]}`.startsWith('I ')) {
      const [text, queue, holders, behind, sessions, times, now] = answer as [string, string[], ...unknown[]];
      const { length } = times as unknown[];
      return [text, queue.map((entry) => entry.slice(0, -11)), holders, behind, sessions, length, now];
    }
    return answer[0] === '0' ? answer.slice(1).sort() : answer;
  });
}
