/** The searches of the takeover (takeover.ts), and for each rule one that finds a fault without the rule. */
import type { Rule, Takeover } from './takeover.js';

const of = (name: string, members: Takeover['members'], more: Partial<Takeover>): Takeover => ({
  ...{ name, members, permits: 1 },
  ...more,
});

export const TAKEOVERS: readonly Takeover[] = [
  of('two ask, one is killed', ['asks', 'asks'], { kills: 1 }),
  of('two ask, one is stopped', ['asks', 'asks'], { stops: 1 }),
  of('two ask, a suspicion', ['asks', 'asks'], { suspicions: 1 }),
  of('a broker, one asks, two suspicions', ['idle', 'asks'], { suspicions: 2 }),
  of('a broker, one holds, two suspicions, another journal', ['idle', 'holds'], { suspicions: 2, rotations: 1 }),
  of('one holds, one asks, two suspicions', ['holds', 'asks'], { suspicions: 2 }),
  of('one holds, one asks, a suspicion, another journal', ['holds', 'asks'], { suspicions: 1, rotations: 1 }),
  of('nothing exists, two ask', ['asks', 'asks'], { cold: true }),
  of('nothing exists, two ask, one is killed', ['asks', 'asks'], { cold: true, kills: 1 }),
  of('a broker, one holds, one asks, one is killed, one is stopped', ['idle', 'holds', 'asks'], {
    ...{ kills: 1, stops: 1, generations: 4 },
  }),
  of('a broker, one holds, one asks, a suspicion', ['idle', 'holds', 'asks'], { suspicions: 1 }),
  of('two ask, a suspicion, a journal cannot be written', ['asks', 'asks'], { suspicions: 1, failures: 1 }),
  of('one holds, one asks, one is killed, a journal cannot be written', ['holds', 'asks'], { kills: 1, failures: 1 }),
  of('one holds, one tries, one is killed', ['holds', 'tries'], { kills: 1 }),
  of('one holds, one tries, a suspicion, one is killed', ['holds', 'tries'], { kills: 1, suspicions: 1 }),
  of('a broker, one holds, one tries, one is killed, one is stopped', ['idle', 'holds', 'tries'], {
    ...{ kills: 1, stops: 1, generations: 4 },
  }),
  of('a broker, one holds, one tries, two are killed', ['idle', 'holds', 'tries'], { kills: 2, generations: 4 }),
  of('one holds, one asks, one tries, one is killed', ['holds', 'asks', 'tries'], { kills: 1 }),
  of('one holds, one of another format asks, one is killed', ['holds', 'asks'], { formats: [0, 1], kills: 1 }),
  of('one holds, two of another format ask, one is killed', ['holds', 'asks', 'asks'], {
    formats: [0, 1, 1],
    kills: 1,
  }),
  of('a broker, one asks late, one of another format asks, two are killed', ['idle', 'asks', 'asks'], {
    ...{ formats: [0, 0, 1], late: [1], kills: 2, generations: 4 },
  }),
  of('a broker, two ask for two permits, one is killed', ['idle', 'asks', 'asks'], { kills: 1, permits: 2 }),
];

/** A process takes over from the broker that it is connected to, and makes the next generation. */
const usurps = (member: number, generation: number): string[] => [
  ...[`${member}: suspects`, `${member}: U1`],
  ...['U2', 'U3 chooses', 'U3 reads', 'U4'].map((step) => `broker ${generation}: ${step}`),
];
const lists = (member: number, generation: number): string[] => [
  ...[`${member}: begins to list`, `${member}: finds gen.${generation}`],
];

const suspicions = (count: number): Partial<Takeover> => ({ suspicions: count, generations: count + 1 });

export const WITHOUT: Readonly<Record<Rule, Takeover>> = {
  // Each time the process that asks first has sent its line, and the other one takes over meanwhile.
  looksForNext: of('two ask, a suspicion', ['asks', 'asks'], { ...suspicions(1), after: ['0: asks', ...usurps(1, 2)] }),
  looksAtOwn: of('two ask, two suspicions', ['asks', 'asks'], {
    ...suspicions(2),
    after: ['0: asks', ...usurps(1, 2), 'broker 2: removes gen.1', '1: finds gen.2', ...usurps(1, 3)],
  }),
  looksForNextFirst: of('two ask, two suspicions', ['asks', 'asks'], {
    ...suspicions(2),
    after: ['0: asks', ...usurps(1, 2), 'broker 1: takes', 'broker 1: B1', '1: finds gen.2'],
  }),
  cleansFromLowest: of('two ask, two suspicions', ['asks', 'asks'], {
    ...suspicions(2),
    after: ['0: asks', ...usurps(1, 2), '1: finds gen.2', ...usurps(1, 3)],
  }),
  appendsFirst: of('two ask, a suspicion', ['asks', 'asks'], { ...suspicions(1), after: ['0: asks'] }),
  linksFirst: of('two ask, a suspicion', ['asks', 'asks'], { ...suspicions(1), after: ['0: asks', '1: suspects'] }),
  // A process suspects the first broker, and stands still. When it goes on, gen.2 was made and removed, and so was gen.3.
  // Another process began to list the directory when there was only gen.2.
  looksBehind: of('three ask, four suspicions', ['asks', 'asks', 'asks'], {
    ...{ suspicions: 4, generations: 4, slowLists: true },
    after: [
      ...['1: suspects', '2: asks', ...usurps(2, 2), 'broker 2: removes gen.1'],
      ...['0: asks', 'broker 1: takes a line of 0', 'broker 1: B1', 'broker 1: B2', '0: finds the connection closed'],
      ...['0: begins to list', ...lists(2, 2), ...usurps(2, 3), 'broker 3: removes gen.2', ...lists(2, 3)],
      ...[...usurps(2, 4), 'broker 4: removes gen.3', '1: U1'],
    ],
  }),
  dropsCutLine: of('one holds, one asks, a suspicion', ['holds', 'asks'], { ...suspicions(1), after: ['1: asks'] }),
  // A process makes gen.2 and cannot go on. Another one makes gen.3 and has read what gen.1 has written so far.
  keepsLink: of('three ask, three suspicions, a journal cannot be written', ['asks', 'asks', 'asks'], {
    ...{ suspicions: 3, generations: 4, failures: 1 },
    after: [
      ...['0: asks', ...usurps(1, 2).slice(0, -1), '2: suspects', '2: U1', '2: finds gen.2'],
      ...usurps(2, 3).slice(0, -1),
    ],
  }),
  callsMembers: of('a broker, one holds, one asks, a suspicion', ['idle', 'holds', 'asks'], {
    ...{ suspicions: 1, generations: 4 },
    after: ['2: asks', ...['takes', 'B1', 'B2', 'B3'].map((step) => `broker 1: ${step}`), '2: believes'],
  }),
  pings: of('a broker, one holds, one asks, one is killed, one is stopped', ['idle', 'holds', 'asks'], {
    ...{ kills: 1, stops: 1, generations: 4 },
    after: ['2: asks', ...['takes', 'B1', 'B2', 'B3'].map((step) => `broker 1: ${step}`), '2: believes'],
  }),
  probesMembers: of('a broker, one holds, one asks', ['idle', 'holds', 'asks'], {}),
  asksBeforeNo: of('one holds, one tries, one is killed', ['holds', 'tries'], { kills: 1 }),
  succeeds: of('one holds, one of another format asks, one is killed', ['holds', 'asks'], {
    formats: [0, 1],
    kills: 1,
  }),
  asksFormat: of('one holds, one of another format asks, one is killed', ['holds', 'asks'], {
    ...{ formats: [0, 1], kills: 1 },
  }),
  // The process that asks has listed only the broker. Then another one joins, and the broker is killed.
  listsAgain: of('a broker, one asks late, one of another format asks, two are killed', ['idle', 'asks', 'asks'], {
    ...{ formats: [0, 0, 1], late: [1], kills: 2, generations: 4 },
  }),
  keepsTickets: of('one holds, one of another format asks, one is killed', ['holds', 'asks'], {
    ...{ formats: [0, 1], kills: 1 },
  }),
  readsEnds: of('a broker, one holds, one tries, one is killed', ['idle', 'holds', 'tries'], { kills: 1 }),
};
