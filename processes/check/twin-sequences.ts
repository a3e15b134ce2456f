/**
 * Sequences of calls that random calls seldom make, for the mutants of the twin. Each of them is run with the limits of
 * the script, and with small ones, by which each call leaves something to do.
 */

export interface Writer {
  /** A call of a session. */
  run(sid: string, ...operations: string[]): void;
  /** The process of a session dies. */
  die(sid: string): void;
  /** The ticket of a request. */
  ticket(sid: string, rid: number): string;
  /** The ticket with which an object was made. */
  born(name: string): string;
}

const [ME, YOU] = ['p000000000000001', 'p000000000000002'];

const rid = (number: number): string => number.toString(16).padStart(10, '0');
const permits = (number: number): string => number.toString(16).padStart(8, '0');
const open = (topmost = '0', formats: number | string = 2, partitions = 1, lease = 3_600_000): string[] => [
  ...['O', `${formats}`, `${partitions}`, `${lease}`, 'label', '-', topmost],
];
const make = (name: string, kind: string, max: number, robust = 0, bypass = 0): string[] => [
  ...['N', name, kind, `${max}`, `${robust}`, '0', `${bypass}`],
];
const ask = (name: string, number: number, n = 1): string[] => ['A', name, '-', rid(number), permits(n)];
const list = (...numbers: number[]): string[] => ['S', '', rid(0xff), `${numbers.length}`, ...numbers.map(rid)];
const beats = ({ run }: Writer, sid = ME, count = 12): void => {
  for (let beat = 0; beat < count; beat++) run(sid, 'B', '-');
};

interface Given {
  readonly kept?: number;
  /** All that is kept by default. */
  readonly count?: number;
  readonly note?: string;
  readonly passes?: number;
  /** The requests to which a mutex was passed. */
  readonly served?: readonly number[];
}

/** Gives `count` of `kept` permits back. */
function back({ ticket }: Writer, sid: string, name: string, number: number, given: Given = {}): string[] {
  const { kept = 1, note = '-', passes = 0, served = [] } = given;
  const { count = kept } = given;
  return [
    ...['D', name, rid(number), ticket(sid, number), permits(kept), `${count}`, note, `${passes}`],
    ...[`${served.length}`, ...served.map(rid)],
  ];
}

/** In the order of their bytes, and in no other order that JavaScript has for texts. */
const NAMES = ['a', 'aa', 'ab', 'b', 'ä', '\uFFFD', '\u{10000}'];

export const SEQUENCES: Readonly<Record<string, (writer: Writer) => void>> = {
  'one call leaves grants of many objects': (writer) => {
    for (const sid of [ME, YOU]) writer.run(sid, ...open());
    for (const name of NAMES) writer.run(ME, ...make(name, 's', 3));
    for (const [at, name] of NAMES.entries()) writer.run(ME, ...ask(name, at, 3));
    for (const [at, name] of NAMES.entries()) {
      for (const more of [0, 1, 2]) writer.run(YOU, ...ask(name, 10 * more + at));
    }
    // In neither their order nor the opposite one.
    const all = [...NAMES.entries()].sort(([one], [other]) => ((one * 3) % 7) - ((other * 3) % 7));
    const topmost = (BigInt(`0x${writer.ticket(ME, 0)}`) + 2n ** 36n).toString(16).padStart(14, '0');
    writer.run(ME, ...all.flatMap(([at, name]) => back(writer, ME, name, at, { kept: 3 })));
    beats(writer, YOU, 2);
    writer.run('p000000000000003', ...open(topmost));
    // An object that is gone by the time of its grants.
    for (let left = 0; left < 4; left++) writer.run(ME, 'K', 'ab', '-');
    beats(writer, YOU, 30);
    writer.run(YOU, ...list(0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23));
  },

  'requests whose numbers do not rise': (writer) => {
    writer.run(ME, ...open(), ...make('s', 's', 9));
    for (const number of [5, 9, 3, 4, 8, 1]) writer.run(ME, ...ask('s', number));
    writer.run(ME, 'S', rid(3), rid(8), '2', rid(4), rid(8));
    writer.run(ME, 'S', '', rid(2), '0');
    writer.run(ME, ...list(4, 5, 8, 9));
    writer.run(ME, ...ask('s', 2));
    for (let left = 0; left < 9; left++) writer.run(ME, 'X');
  },

  'marks, and parts that go back': (writer) => {
    for (const sid of [ME, YOU]) writer.run(sid, ...open());
    writer.run(ME, ...make('s', 's', 4), ...ask('s', 1, 3), ...ask('s', 2));
    writer.run(YOU, ...ask('s', 1));
    writer.run(ME, 'B', '-', 'U', '3', rid(1), rid(2), rid(3));
    writer.run(YOU, 'U', '1', rid(1));
    writer.run(ME, 'I', 's', '9', '', '');
    writer.run(ME, ...back(writer, ME, 's', 1, { kept: 3, count: 2 }));
    writer.run(ME, 'I', 's', '9', '', '');
    writer.run(ME, ...list(1, 2));
    writer.run(ME, ...back(writer, ME, 's', 1, { note: '-s' }));
    writer.run(YOU, 'U', '1', rid(1));
    writer.run(ME, 'U', '1', rid(2));
    writer.run(ME, 'I', 's', '0', '', '');
    writer.run(YOU, ...back(writer, YOU, 's', 1, { note: 'cs' }));
    writer.die(ME);
  },

  'deaths are told until somebody has repaired': (writer) => {
    const other = 'p000000000000003';
    for (const sid of [ME, YOU, other]) writer.run(sid, ...open());
    writer.run(ME, ...make('m', 'm', 1, 1, 4), ...make('s', 's', 2, 1));
    writer.run(ME, ...ask('m', 1), ...ask('s', 2, 2));
    writer.run(YOU, ...ask('m', 1), ...ask('s', 2, 2));
    writer.run(other, ...ask('m', 1), ...ask('m', 3), ...ask('s', 2));
    writer.die(ME);
    beats(writer, other, 3);
    writer.run(YOU, ...list(1, 2));
    writer.run(YOU, ...back(writer, YOU, 's', 2, { kept: 2, count: 1, note: 'r' }));
    writer.run(YOU, ...list(1, 2));
    writer.run(YOU, ...back(writer, YOU, 'm', 1, { note: 'd', passes: 3 }));
    writer.run(other, ...list(1, 2, 3));
    writer.run(YOU, ...back(writer, YOU, 's', 2, { note: 'c' }));
    writer.run(other, ...back(writer, other, 'm', 1, { note: 'c' }));
    writer.run(other, ...list(2, 3));
    writer.run(other, ...back(writer, other, 's', 2, { note: 'd' }), 'I', 's', '9', '', '');
    writer.run(YOU, ...ask('s', 4), ...list(4));
    writer.run(YOU, ...back(writer, YOU, 's', 4, { note: '-' }), 'I', 's', '9', '', '');
    writer.run(other, ...back(writer, other, 'm', 3, { note: '-' }), 'I', 'm', '9', '', '');
  },

  'what is held of objects that are gone': (writer) => {
    for (const sid of [ME, YOU]) writer.run(sid, ...open());
    writer.run(ME, ...make('s', 's', 4, 1), ...make('m', 'm', 1, 1, 4), ...ask('s', 1, 3), ...ask('m', 2));
    writer.run(YOU, ...ask('s', 1), ...ask('m', 2), ...ask('m', 3), ...ask('s', 4, 2));
    writer.die(ME);
    beats(writer, YOU, 3);
    writer.run(YOU, ...list(1, 2, 3, 4));
    for (const name of ['s', 'm']) for (let left = 0; left < 4; left++) writer.run(YOU, 'K', name, '-');
    writer.run(YOU, ...list(1, 2, 4));
    writer.run(YOU, ...make('s', 's', 2), ...make('m', 'm', 1, 0, 4), ...ask('m', 5));
    writer.run(YOU, 'V', 's', rid(1), writer.ticket(YOU, 1), YOU);
    writer.run(YOU, ...back(writer, YOU, 'm', 2, { note: 'r', passes: 1, served: [5, 1] }));
    writer.run(YOU, ...back(writer, YOU, 's', 4, { kept: 2, count: 1, note: 'd' }), ...list(1, 4, 5));
    writer.run(YOU, 'I', 's', '9', '', '', 'I', 'm', '9', '', '');
    // A request of the object that had the name before.
    writer.run(YOU, ...ask('s', 6));
    writer.run(YOU, ...back(writer, YOU, 's', 6, { served: [4] }), ...list(4, 5));
  },

  'more requests hold and wait than one call tells': (writer) => {
    for (const sid of [ME, YOU]) writer.run(sid, ...open());
    writer.run(ME, ...make('s', 's', 4), ...ask('s', 1));
    writer.run(YOU, ...ask('s', 1), ...ask('s', 2), ...ask('s', 3));
    writer.run(ME, 'I', 's', '9', '', '');
    writer.run(ME, 'I', 's', '9', '', `${YOU}${rid(2)}`);
    writer.run(YOU, ...ask('s', 4), ...ask('s', 5), ...ask('s', 6));
    writer.run(ME, 'I', 's', '9', writer.ticket(YOU, 5), '');
  },

  'a mutex that was passed on': (writer) => {
    for (const sid of [ME, YOU]) writer.run(sid, ...open());
    writer.run(ME, ...make('m', 'm', 1, 0, 131), ...make('s', 's', 1), ...ask('m', 1), ...ask('s', 7));
    writer.run(YOU, ...ask('m', 1), ...ask('s', 3));
    for (const number of [2, 3, 4]) writer.run(ME, ...ask('m', number));
    for (let more = 10; more < 76; more++) writer.run(YOU, ...ask('m', more));
    writer.run(ME, ...back(writer, ME, 'm', 1, { passes: 2, served: [2, 3, 7, 9] }), ...list(4, 7));
    writer.run(YOU, ...back(writer, YOU, 'm', 1));
    writer.run(YOU, 'P', '0');
    writer.run(ME, ...back(writer, ME, 'm', 4, { passes: 300 }));
    writer.run(ME, 'P', '0');
    writer.run(YOU, ...back(writer, YOU, 'm', 10, { served: [11] }));
    writer.run(YOU, 'P', '0');
    writer.run(ME, 'F', 's', rid(7), writer.ticket(ME, 7), ME);
    writer.run(ME, 'I', 'm', '99', '', '');
  },

  'a semaphore gets fewer permits than are asked for': (writer) => {
    for (const sid of [ME, YOU]) writer.run(sid, ...open());
    writer.run(ME, ...make('s', 's', 4), ...ask('s', 1, 3), ...ask('s', 2));
    writer.run(YOU, ...ask('s', 1, 4), ...ask('s', 2, 3), ...ask('s', 3), ...ask('s', 4, 2));
    writer.run(ME, 'R', 's', '-', '2');
    beats(writer, YOU, 6);
    writer.run(ME, ...back(writer, ME, 's', 1, { kept: 3 }));
    beats(writer, YOU, 6);
    writer.run(ME, ...back(writer, ME, 's', 2));
    beats(writer, YOU, 6);
    writer.run(YOU, ...list(3, 4), ...ask('s', 5, 3), ...make('s', 's', 2));
    writer.run(YOU, ...make('s', 'r', 9));
    writer.run(YOU, ...make('s', 'm', 1));
    writer.run(YOU, 'R', 's', '-', '3');
  },

  'more requests are refused than one call can refuse': (writer) => {
    for (const sid of [ME, YOU]) writer.run(sid, ...open());
    writer.run(ME, ...make('s', 's', 4), ...ask('s', 1, 2));
    for (let number = 2; number < 134; number++) writer.run(ME, ...ask('s', number, 4));
    writer.run(YOU, ...ask('s', 1, 2), 'R', 's', '-', '2');
    // What this call gives back lets it refuse requests that it gives up next.
    for (let left = 0; left < 3; left++) writer.run(ME, 'X');
    beats(writer, YOU, 2);
    // The same, and its process dies.
    writer.run(ME, ...open(), ...make('t', 's', 4), ...ask('t', 1, 2));
    for (let number = 2; number < 134; number++) writer.run(ME, ...ask('t', number, 4));
    writer.run(YOU, 'R', 't', '-', '2');
    writer.die(ME);
  },

  'cancelled in parts': (writer) => {
    for (const sid of [ME, YOU]) writer.run(sid, ...open());
    writer.run(ME, ...make('s', 's', 2), ...ask('s', 1));
    for (let number = 1; number < 7; number++) writer.run(YOU, ...ask('s', number, number % 2 ? 2 : 1));
    const upTo = writer.ticket(YOU, 4);
    for (let left = 0; left < 5; left++) writer.run(ME, 'L', 's', '-', upTo);
    beats(writer, ME, 3);
    writer.run(YOU, ...list(5, 6));
    writer.run(ME, ...back(writer, ME, 's', 1), 'L', 's', '-', '-');
    beats(writer, ME, 3);
  },

  'tickets leap while some wait': (writer) => {
    for (const sid of [ME, YOU]) writer.run(sid, ...open());
    writer.run(ME, ...make('s', 's', 1), ...make('t', 's', 1), ...make('m', 'm', 1, 0, 9));
    writer.run(ME, ...ask('s', 1), ...ask('t', 2), ...ask('m', 8));
    for (const number of [3, 4, 5]) writer.run(YOU, ...ask('s', number), ...ask('t', 10 + number));
    const topmost = (BigInt(`0x${writer.ticket(ME, 1)}`) + 2n ** 30n).toString(16).padStart(14, '0');
    writer.run('p000000000000003', ...open(topmost));
    writer.run('p000000000000004', ...open(topmost));
    writer.run(YOU, ...ask('s', 6));
    writer.run(ME, ...list(1, 2, 8));
    for (const [number, name] of [
      [1, 's'],
      [2, 't'],
    ] as const)
      writer.run(ME, ...back(writer, ME, name, number));
    for (const number of [3, 4, 5, 6]) {
      beats(writer, YOU, 2);
      writer.run(YOU, ...back(writer, YOU, 's', number));
    }
    writer.run(YOU, ...list(13, 14, 15), 'J', '-inf');
  },

  'objects are told in parts': (writer) => {
    writer.run(ME, ...open(), ...make('a', 's', 1));
    writer.run(ME, ...make('b', 'm', 1, 1, 7), ...ask('b', 1));
    writer.run(ME, ...make('c', 'w', 9), ...make('d', 's', 2));
    for (const cursor of ['0', writer.born('a'), writer.born('b'), writer.ticket(ME, 1), writer.born('d')]) {
      writer.run(ME, 'P', cursor);
    }
  },

  'a new format comes when nobody is there who cannot read it': (writer) => {
    // The only other session, if there is one, is to read all formats.
    writer.run('b000000000000000', 'X');
    writer.run('b000000000000000', ...open('0', '2-99'));
    writer.run(ME, ...open('0', '2-3'), ...make('a', 's', 9));
    for (const number of [1, 2, 3]) writer.run(ME, ...ask('a', number));
    writer.run(YOU, ...open('0', 4), 'J', '-inf');
    // A session that is dead does not count, though it still has requests.
    writer.die(ME);
    writer.run(YOU, ...open('0', 4), 'J', '-inf');
    writer.run('p000000000000003', ...open('0', 4), 'J', '-inf');
    writer.run('p000000000000004', ...open('0', '2-3'), 'J', '-inf');
    writer.run('p000000000000004', ...open('0', '2-4'), 'J', '-inf');
    writer.run('p000000000000005', ...open('0', '10'), 'J', '-inf');
    writer.run(YOU, 'X');
  },

  'settings change when nobody is there': (writer) => {
    writer.run(ME, ...open());
    writer.run(YOU, ...open('0', 2, 1, 1000));
    writer.run(YOU, ...open('0', 3));
    writer.run(ME, 'X');
    writer.run(YOU, ...open('0', 2, 2));
    writer.run(YOU, ...open('0', 1));
    writer.run(YOU, ...open('0', 3, 1, 1000));
    writer.run(ME, ...open());
    writer.run(ME, ...open('0', 3, 1, 1000), 'J', '-inf');
  },
};
