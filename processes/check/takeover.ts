/**
 * The takeover of a space without a server (src/local/) as a graph of states: brokers, members, and the files between
 * them. Each arrow is a step of its own, and a process may be killed or stopped between any two steps.
 *
 *     usurper of G+1:  U1 link gen.G+1   U2 gen.G is still linked   U3 choose a journal, read   U4 rename, serve
 *     broker G:        B1 append a line to its journal, in two halves   B2 gen.G+1 is not there
 *                      B3 gen.G is still linked   B4 answer, tell
 *
 * The processes share one object with some permits. Each process asks for one permit, holds it, and gives it back. What
 * a journal says is kept as the state to which its lines lead. A file is read at once: a journal only grows, so a read
 * that takes long sees what one at its end sees. A list of the directory may take long (`slowLists`). Then the list has
 * all that is there from its beginning to its end, and perhaps what comes or goes meanwhile.
 *
 * A usurper may be unable to write its journal. Then its link stays, and nobody serves until somebody makes the next one.
 *
 * A process may have another format, and may come late. It takes over from a broker of another format only when nobody
 * lives who uses that format: F1 list the sockets of processes, F2 ask those that are new in the list, and again F1, until
 * nobody new is in it. If somebody lives, the process is refused.
 *
 * A process may also try: it holds at once, or is told no. The broker sees that a connection has ended in a step of its
 * own, and so it may believe that a process lives which has ended. It says no only when each process that holds or
 * waits is connected or was asked, and when it has seen all ends of connections that are there.
 *
 * Checked in each state: (1) the living believe to hold no more permits than there are; (2) whoever believes to hold is
 * known as a holder to the broker of the highest link, once this broker serves; (3) the tickets that are believed rise;
 * (5) nobody is told no because of processes that had ended before it tried; (6) nobody is refused because of another
 * format whose processes have ended. Checked in each end: (4) nobody who lives
 * waits for permits that are free. A process that is stopped never goes on in an end, so a stopped broker is no excuse.
 */

/** The rules of the takeover, each by what goes wrong without it. A mutant lacks one of them. */
export const TAKEOVER_RULES = {
  looksForNext: 'a broker answers without B2',
  looksAtOwn: 'a broker answers without B3',
  looksForNextFirst: 'B3 comes before B2',
  appendsFirst: 'a broker answers before B1',
  cleansFromLowest: 'a broker removes the links below its own from the highest on',
  linksFirst: 'U3 comes before U1',
  looksBehind: 'a usurper goes on without U2',
  dropsCutLine: 'a usurper runs half a line',
  keepsLink: 'a usurper that cannot write a journal removes its link',
  callsMembers: 'a new broker calls nobody',
  pings: 'who only waits sends nothing',
  probesMembers: 'a broker takes a process for dead if the socket of its broker is not there',
  asksBeforeNo: 'a broker says no before it knows that the holders live',
  readsEnds: 'a broker says no before it has seen which connections have ended',
  succeeds: 'a process refuses another format although all its processes have ended',
  asksFormat: 'a process takes over from another format without asking who lives',
  listsAgain: 'a process that takes over from another format lists its processes only before it asks them',
  keepsTickets: 'a process that takes over from another format begins its tickets anew',
} as const;

export type Rule = keyof typeof TAKEOVER_RULES;

export interface Takeover {
  readonly name: string;
  readonly permits: number;
  /** What each process does: asks for a permit, tries to get one, holds one at the beginning, or only takes part. */
  readonly members: readonly ('asks' | 'tries' | 'holds' | 'idle')[];
  /** Nothing exists at the beginning. Otherwise the first process has the broker, and all are connected. */
  readonly cold?: boolean;
  readonly kills?: number;
  readonly stops?: number;
  /** Suspicions without cause. */
  readonly suspicions?: number;
  readonly rotations?: number;
  /** How often a usurper cannot write its journal. */
  readonly failures?: number;
  /** The most generations. */
  readonly generations?: number;
  readonly slowLists?: boolean;
  /** The format of each process, if they have several. A process whose format is not that of the first comes late. */
  readonly formats?: readonly number[];
  /** The processes that have not joined at the beginning. */
  readonly late?: readonly number[];
  /** The first steps, by the beginnings of their labels. */
  readonly after?: readonly string[];
  readonly without?: Rule;
}

/** What a journal says. */
interface Known {
  ticket: number;
  held: [member: number, ticket: number][];
  queue: [member: number, ticket: number][];
}

type Letter = 'enter' | 'ask' | 'try' | 'give' | 'reap';
interface Line {
  readonly letter: Letter;
  readonly member: number;
  /** Of `enter`: whether the member still wants its request. */
  readonly lists?: boolean;
}

/** What a member is told of its request: that it holds, waits, is gone, is refused; and with which ticket it holds. */
interface News {
  readonly is: 'held' | 'waits' | 'gone' | 'no';
  readonly ticket: number;
  /** Answers `enter`. */
  readonly entered: boolean;
  /** Of `no`: who holds, and who waits. */
  readonly because?: readonly [held: number[], queue: number[]];
}

interface Journal {
  readonly n: number;
  known: Known;
  /** A line that is half written. */
  half?: Line;
  /** The file is removed. Its broker may still write to it. */
  removed?: true;
}

interface Broker {
  readonly generation: number;
  readonly member: number;
  /** The broker of gen.G-1, as the usurper saw it; -1 if it saw none. */
  before: number;
  /** gen.G exists, and is this broker's file. */
  linked: boolean;
  phase: 'linked' | 'listed' | 'chosen' | 'read' | 'serving' | 'over';
  /** The journal that it reads: of which broker, and which. */
  chosen?: [broker: number, n: number];
  known?: Known;
  /** Its complete journals, but for removed ones that it does not write to any more. */
  journals: Journal[];
  /** The members that it has still to call. */
  calls: number[];
  /** Where somebody tries: the members of whom it believes that they live. */
  believed: number[];
  /** The line that it serves, and what is to be told when it has looked. */
  serves?: { line: Line; stage: 'half' | 'appended' | 'looked'; out: [number, News][] };
}

interface Member {
  alive: boolean;
  stopped: boolean;
  /** `held` is a belief. */
  want: 'idle' | 'asks' | 'asked' | 'tries' | 'tried' | 'waits' | 'held' | 'giving' | 'done';
  /** Who had ended when it tried. */
  ended?: number[];
  phase: 'looking' | 'asking' | 'usurping' | 'dialling' | 'connected';
  /** Its socket is there. Noted only if there are several formats. */
  listens?: true;
  /** The processes that it asks whether they live, and those that it has found dead (F1, F2). */
  asks?: number[];
  dead?: number[];
  /** The broker that it dials, is connected to, or usurps; -1 if there was none. */
  to: number;
  entered: boolean;
  up: Line[];
  down: News[];
  /** The broker of this generation has called it. */
  called?: number;
  /** The links that were there when its list of the directory began. */
  listed?: number[];
  /** What it has read too early. */
  read?: Known;
}

export interface TakeoverState {
  brokers: Broker[];
  members: Member[];
  kills: number;
  stops: number;
  suspicions: number;
  rotations: number;
  failures: number;
  /** The largest ticket that was believed. */
  top: number;
  fault?: string;
}

interface Step {
  readonly label: string;
  readonly to: TakeoverState;
  readonly optional?: boolean;
}

const empty = (): Known => ({ ticket: 0, held: [], queue: [] });

/** Whether a member that tries is told no. */
const isRefused = ({ held, queue }: Known, member: number, permits: number): boolean =>
  !held.some(([of]) => of === member) && (held.length >= permits || queue.length > 0);

/** Runs a line on what is known, and returns who is told what. */
function run(known: Known, { letter, member, lists }: Line, permits: number): [number, News][] {
  const told: [number, News][] = [];
  const stateOf = (entered: boolean): News => {
    const held = known.held.find(([of]) => of === member);
    if (held) return { is: 'held', ticket: held[1], entered };
    return { is: known.queue.some(([of]) => of === member) ? 'waits' : 'gone', ticket: 0, entered };
  };
  const drop = (): void => {
    known.held = known.held.filter(([of]) => of !== member);
    known.queue = known.queue.filter(([of]) => of !== member);
  };
  let no: News | undefined;
  if (letter === 'ask' || letter === 'try') {
    if (letter === 'try' && isRefused(known, member, permits)) {
      const because = [known.held.map(([of]) => of), known.queue.map(([of]) => of)] as const;
      no = { is: 'no', ticket: 0, entered: false, because };
    } else if (stateOf(false).is === 'gone') known.queue.push([member, ++known.ticket]);
  } else if (letter !== 'enter' || !lists) drop();
  while (known.queue.length > 0 && known.held.length < permits) {
    const head = known.queue.shift() as [number, number];
    known.held.push(head);
    if (head[0] !== member) told.push([head[0], { is: 'held', ticket: head[1], entered: false }]);
  }
  if (letter !== 'reap') told.unshift([member, no ?? stateOf(letter === 'enter')]);
  return told;
}

export class TakeoverModel {
  readonly #of: Takeover;
  readonly #most: number;

  constructor(of: Takeover) {
    this.#of = of;
    this.#most = of.generations ?? 3;
  }

  get #tries(): boolean {
    return this.#of.members.includes('tries');
  }

  #formatOf(member: number): number {
    return this.#of.formats?.[member] ?? 0;
  }

  #has(rule: Rule): boolean {
    return this.#of.without !== rule;
  }

  first(): TakeoverState {
    const { members, cold = false, kills = 0, stops = 0, suspicions = 0, rotations = 0, failures = 0 } = this.#of;
    const known = empty();
    for (const [member, what] of members.entries()) if (what === 'holds') known.held.push([member, ++known.ticket]);
    const broker: Broker = {
      ...{
        generation: 1,
        member: 0,
        before: -1,
        linked: true,
        phase: 'serving',
        journals: [{ n: 1, known }],
        calls: [],
        believed: this.#tries ? [...members.keys()] : [],
      },
    };
    const isLate = (at: number): boolean =>
      cold || this.#of.late?.includes(at) === true || this.#formatOf(at) !== this.#formatOf(0);
    return {
      brokers: cold ? [] : [broker],
      members: members.map((what, at) => ({
        ...{ alive: true, stopped: false, phase: isLate(at) ? 'looking' : 'connected', to: isLate(at) ? -1 : 0 },
        ...{ entered: !isLate(at), want: what === 'holds' ? 'held' : what, up: [], down: [] },
        ...(this.#of.formats && !isLate(at) ? { listens: true } : {}),
      })),
      ...{ kills, stops, suspicions, rotations, failures, top: known.ticket },
    };
  }

  /** The same text for the same state. */
  text({ brokers, members, kills, stops, suspicions, rotations, failures, top, fault }: TakeoverState): string {
    return JSON.stringify([
      // A broker that is over does nothing more. Only its files count.
      brokers.map((b) => [
        ...[
          b.generation,
          b.member,
          b.before,
          b.linked,
          b.phase,
          b.chosen,
          b.known && knownOf(b.known),
          b.calls,
          b.believed,
        ],
        b.journals
          .filter(({ removed }) => !removed || b.phase !== 'over')
          .map(({ n, known, half, removed }) => [n, knownOf(known), half && lineOf(half), removed]),
        b.serves && [lineOf(b.serves.line), b.serves.stage, b.serves.out.map(([to, news]) => [to, newsOf(news)])],
      ]),
      members.map((m) => [
        ...[m.alive, m.stopped, m.want, m.phase, m.to, m.entered, m.up.map(lineOf), m.down.map(newsOf)],
        ...[m.called, m.listed, m.read && knownOf(m.read), m.ended, m.listens, m.asks, m.dead],
      ]),
      ...[kills, stops, suspicions, rotations, failures, top, fault],
    ]);
  }

  fault(state: TakeoverState): string | undefined {
    if (state.fault) return state.fault;
    const believers = state.members.flatMap(({ alive, want }, at) => (alive && want === 'held' ? [at] : []));
    if (believers.length > this.#of.permits) return `${believers.length} believe to hold ${this.#of.permits}`;
    const highest = highestOf(state);
    if (highest?.phase === 'serving') {
      const { held } = newestOf(highest).known;
      const missing = believers.find((at) => !held.some(([of]) => of === at));
      if (missing !== undefined) return `the broker does not know that ${missing} holds`;
    }
    return undefined;
  }

  endFault(state: TakeoverState): string | undefined {
    // A search has an end where there may be no more generations, although the next would be made.
    if (state.brokers.some(({ generation }) => generation >= this.#most)) return undefined;
    const { members, brokers } = state;
    const tries = members.findIndex(
      ({ alive, stopped, want }) => alive && !stopped && (want === 'tries' || want === 'tried'),
    );
    if (tries >= 0) return `${tries} tries, and is told nothing`;
    const waiting = members.findIndex(
      ({ alive, stopped, want }) => alive && !stopped && ['asks', 'asked', 'waits', 'giving'].includes(want),
    );
    // Whoever could give back has done so. Only the stopped still hold.
    const known = brokers.flatMap(({ journals }) => (journals.at(-1) as Journal | undefined)?.known ?? []).at(-1);
    const held = known?.held.filter(([of]) => members[of]?.alive && members[of]?.stopped).length ?? 0;
    return waiting >= 0 && held < this.#of.permits ? `${waiting} waits for ever, and permits are free` : undefined;
  }

  steps(state: TakeoverState): Step[] {
    const steps: Step[] = [];
    const text = JSON.stringify(state);
    const add = (label: string, act: (next: TakeoverState) => void, optional = false): void => {
      const to: TakeoverState = JSON.parse(text);
      act(to);
      steps.push({ label, to, optional });
    };
    for (const at of state.members.keys()) this.#ofMember(state, at, add);
    for (const at of state.brokers.keys()) this.#ofBroker(state, at, add);
    return steps;
  }

  // Members -----------------------------------------------------------------------------------------------------------

  #ofMember(
    state: TakeoverState,
    at: number,
    add: (label: string, act: (next: TakeoverState) => void, optional?: boolean) => void,
  ): void {
    const member = state.members[at] as Member;
    const on = (label: string, act: (self: Member, next: TakeoverState) => void, optional = false): void =>
      add(`${at}: ${label}`, (next) => act(next.members[at] as Member, next), optional);
    if (!member.alive) return;
    if (state.kills > 0)
      on(
        'is killed',
        (self, next) => {
          next.kills--;
          drop(self);
          Object.assign(self, { alive: false, stopped: false });
          for (const each of next.brokers) if (each.member === at) end(each);
        },
        true,
      );
    if (member.stopped) return;
    if (state.stops > 0)
      on(
        'is stopped',
        (self, next) => {
          next.stops--;
          self.stopped = true;
        },
        true,
      );
    // Who wants nothing any more has left. Its broker goes on.
    if (member.want === 'idle' || member.want === 'done') return;
    const broker = state.brokers[member.to];
    const isGone = !broker || broker.phase === 'over' || !state.members[broker.member]?.alive;
    switch (member.phase) {
      case 'looking':
        if (this.#of.slowLists && !member.listed)
          on('begins to list', (self) => {
            self.listed = state.brokers.flatMap(({ linked }, each) => (linked ? [each] : []));
          });
        else
          for (const found of foundBy(state, member.listed))
            on(`finds gen.${state.brokers[found]?.generation ?? 0} highest`, (self, next) => {
              delete self.listed;
              Object.assign(self, { to: found, phase: found < 0 ? 'usurping' : 'dialling' });
              const of = state.brokers[found];
              if (of && this.#formatOf(of.member) !== this.#formatOf(at)) this.#meetsFormat(self, next, at);
              if (self.phase === 'usurping') this.#listens(self);
            });
        break;
      case 'asking':
        this.#asks(state, at, on);
        break;
      case 'usurping':
        if (!this.#has('linksFirst') && !member.read)
          on('U3 reads before U1', (self, next) => {
            self.read = structuredClone(journalBelow(next, (broker?.generation ?? 0) + 1)?.known ?? empty());
          });
        else on('U1 links the next generation', (self, next) => this.#link(self, next, at));
        break;
      case 'dialling':
        if (broker?.phase === 'serving' && !isGone)
          on('connects', (self, next) => {
            if (!next.brokers[self.to]?.linked) return drop(self);
            self.phase = 'connected';
            this.#listens(self);
            self.entered = false;
            self.up = [{ letter: 'enter', member: at, lists: ['asked', 'tried', 'waits', 'held'].includes(self.want) }];
            const to = next.brokers[self.to] as Broker;
            if (this.#tries && !to.believed.includes(at)) to.believed = [...to.believed, at].sort();
          });
        else if (isGone)
          on('is refused', (self) => {
            self.phase = 'usurping';
            this.#listens(self);
          });
        break;
      case 'connected':
        this.#connected(state, member, isGone, on);
        break;
    }
    if (member.phase === 'dialling' || member.phase === 'connected') {
      const isStopped = broker !== undefined && state.members[broker.member]?.stopped === true;
      const awaits =
        member.phase === 'dialling' || member.up.length > 0 || broker?.serves?.line.member === at
          ? true
          : this.#has('pings');
      if (isStopped && awaits) on('suspects', usurp);
      else if (state.suspicions > 0)
        on(
          'suspects without cause',
          (self, next) => {
            next.suspicions--;
            usurp(self);
          },
          true,
        );
    }
  }

  #listens(self: Member): void {
    if (this.#of.formats) self.listens = true;
  }

  /** The broker that was found has another format. */
  #meetsFormat(self: Member, next: TakeoverState, at: number): void {
    if (!this.#has('asksFormat')) self.phase = 'usurping';
    else if (this.#has('succeeds')) Object.assign(self, { phase: 'asking', dead: [] });
    else this.#refuse(self, next, at);
  }

  /** The process is told that another format is in use. Its space is closed. */
  #refuse(self: Member, next: TakeoverState, at: number): void {
    const isInUse = next.members.some(
      ({ alive, listens }, each) => alive && listens && this.#formatOf(each) !== this.#formatOf(at),
    );
    leave(self);
    delete self.listens;
    if (!isInUse) next.fault = `${at} is refused because of the dead`;
  }

  /** F1 and F2. */
  #asks(
    state: TakeoverState,
    at: number,
    on: (label: string, act: (self: Member, next: TakeoverState) => void) => void,
  ): void {
    const { asks, dead = [] } = state.members[at] as Member;
    if (!asks) {
      // The socket of a dead process stays until a broker removes it.
      const found = state.members.flatMap(({ listens }, each) =>
        listens && each !== at && !dead.includes(each) ? [each] : [],
      );
      on('F1 lists the processes', (self) => {
        if (found.length > 0) self.asks = found;
        else this.#takesOver(self);
      });
      return;
    }
    const living = asks.filter((each) => state.members[each]?.alive);
    if (living.some((each) => this.#formatOf(each) !== this.#formatOf(at)))
      on('F2 finds one that lives', (self, next) => this.#refuse(self, next, at));
    // A process of the own format may be about to take over.
    else if (living.length > 0) on('F2 finds one of its own format', drop);
    else
      on('F2 finds all of them dead', (self) => {
        delete self.asks;
        self.dead = [...dead, ...asks].sort();
        if (!this.#has('listsAgain')) this.#takesOver(self);
      });
  }

  #takesOver(self: Member): void {
    self.phase = 'usurping';
    this.#listens(self);
    delete self.asks;
    delete self.dead;
  }

  #connected(
    state: TakeoverState,
    member: Member,
    isGone: boolean,
    on: (label: string, act: (self: Member, next: TakeoverState) => void) => void,
  ): void {
    const at = state.members.indexOf(member);
    if (member.entered && member.want === 'asks')
      on('asks', (self) => {
        self.want = 'asked';
        self.up.push({ letter: 'ask', member: at });
      });
    if (member.entered && member.want === 'tries')
      on('tries', (self, next) => {
        self.want = 'tried';
        self.ended = next.members.flatMap(({ alive }, each) => (alive ? [] : [each]));
        self.up.push({ letter: 'try', member: at });
      });
    if (member.entered && member.want === 'held')
      on('gives back', (self) => {
        self.want = 'giving';
        self.up.push({ letter: 'give', member: at });
      });
    if (isGone) on('finds the connection closed', drop);
    if (member.called !== undefined) on('hears the call', drop);
    if (member.down.length > 0) on('believes', (self, next) => this.#believe(self, next, self.down.shift() as News));
  }

  #believe(self: Member, next: TakeoverState, news: News): void {
    const at = next.members.indexOf(self);
    if (news.entered) self.entered = true;
    if (news.is === 'no') {
      const [held, queue] = (news.because ?? [[], []]).map((all) => all.filter((each) => !self.ended?.includes(each)));
      if (held?.length === 0 && queue?.length === 0) next.fault = `${at} is told no because of the dead`;
      leave(self);
    } else if (news.is === 'held' && ['asked', 'tried', 'waits'].includes(self.want)) {
      self.want = 'held';
      if (this.#of.permits === 1 && news.ticket <= next.top) next.fault = 'a ticket that is believed does not rise';
      if (this.#of.permits === 1) next.top = news.ticket;
    } else if (news.is === 'waits' && self.want === 'asked') {
      self.want = 'waits';
    } else if (news.is === 'gone') {
      if (self.want === 'held') next.fault = `${at} loses what it holds`;
      else if (self.want === 'giving') leave(self);
      else if (news.entered && self.want === 'tried') self.up.push({ letter: 'try', member: at });
      else if (news.entered && (self.want === 'asked' || self.want === 'waits')) {
        self.want = 'asked';
        self.up.push({ letter: 'ask', member: at });
      }
    }
  }

  #link(self: Member, next: TakeoverState, at: number): void {
    const { to: before, read: known } = self;
    delete self.read;
    const generation = (next.brokers[before]?.generation ?? lastOf(next)) + 1;
    drop(self);
    if (isLinked(next, generation) || generation > this.#most) return;
    // A process has one broker.
    for (const broker of next.brokers) if (broker.member === at) end(broker);
    next.brokers.push({
      ...{ generation, member: at, before, linked: true, journals: [], calls: [], believed: [] },
      ...(known ? { phase: 'read', known } : { phase: 'linked' }),
    });
  }

  // Brokers -----------------------------------------------------------------------------------------------------------

  #ofBroker(
    state: TakeoverState,
    at: number,
    add: (label: string, act: (next: TakeoverState) => void, optional?: boolean) => void,
  ): void {
    const broker = state.brokers[at] as Broker;
    const process = state.members[broker.member] as Member;
    if (!process.alive || process.stopped) return;
    const on = (label: string, act: (self: Broker, next: TakeoverState) => void, optional = false): void =>
      add(`broker ${broker.generation}: ${label}`, (next) => act(next.brokers[at] as Broker, next), optional);
    const isHighest = highestOf(state) === broker;
    switch (broker.phase) {
      case 'linked':
        on('U2 looks behind', (self, next) => {
          const isFirst = self.before < 0 ? isHighest : next.brokers[self.before]?.linked;
          if (this.#has('looksBehind') && !isFirst) end(self);
          else Object.assign(self, { phase: 'listed', before: -1 });
        });
        break;
      case 'listed':
        on('U3 chooses a journal', (self, next) => {
          const below = journalBelow(next, self.generation);
          if (below) self.chosen = [next.brokers.indexOf(below.broker), below.n];
          else self.known = empty();
          self.phase = below ? 'chosen' : 'read';
        });
        break;
      case 'chosen':
        on('U3 reads', (self, next) => {
          const [of, n] = self.chosen as [number, number];
          const journal = next.brokers[of]?.journals.find((each) => each.n === n && !each.removed);
          self.phase = journal ? 'read' : 'listed';
          if (!journal) return;
          self.known = structuredClone(journal.known);
          if (this.#formatOf((next.brokers[of] as Broker).member) !== this.#formatOf(self.member))
            self.known = { ...empty(), ticket: this.#has('keepsTickets') ? journal.known.ticket : 0 };
          // Half a line may say anything. The worst is that the holders have given back.
          if (journal.half && !this.#has('dropsCutLine')) self.known.held = [];
        });
        break;
      case 'read':
        if (state.failures > 0)
          on(
            'U4 fails',
            (self, next) => {
              next.failures--;
              if (!this.#has('keepsLink')) self.linked = false;
              end(self);
            },
            true,
          );
        on('U4 renames its journal', (self) => {
          const known = self.known as Known;
          self.journals = [{ n: 1, known }];
          self.phase = 'serving';
          self.calls = this.#has('callsMembers')
            ? [...known.held, ...known.queue].map(([of]) => of).sort((a, b) => a - b)
            : [];
          delete self.known;
          delete self.chosen;
        });
        break;
      case 'serving':
        this.#serves(state, at, on);
        break;
    }
  }

  #serves(
    state: TakeoverState,
    at: number,
    on: (label: string, act: (self: Broker, next: TakeoverState) => void, optional?: boolean) => void,
  ): void {
    const { permits } = this.#of;
    const broker = state.brokers[at] as Broker;
    const lower = state.brokers.filter(({ linked, generation }) => linked && generation < broker.generation);
    lower.sort((a, b) => (this.#has('cleansFromLowest') ? 1 : -1) * (a.generation - b.generation));
    if (lower[0]) {
      const old = state.brokers.indexOf(lower[0]);
      on(`removes gen.${lower[0].generation}`, (_, next) => {
        (next.brokers[old] as Broker).linked = false;
      });
    }
    const below = state.brokers.findIndex((each) => exists(each) && each.generation < broker.generation);
    if (below >= 0)
      on('removes older journals', (_, next) => {
        const { journals } = next.brokers[below] as Broker;
        journals.splice(0, journals.length - 1);
        (journals[0] as Journal).removed = true;
      });
    const [called] = broker.calls;
    if (called !== undefined)
      on(`calls ${called}`, (self, next) => {
        self.calls.shift();
        const member = next.members[called] as Member;
        const isOlder = (next.brokers[member.to]?.generation ?? self.generation) < self.generation;
        if (member.alive && isOlder) member.called = self.generation;
        if (this.#tries && member.alive && !self.believed.includes(called))
          self.believed = [...self.believed, called].sort();
      });
    for (const of of broker.believed)
      if (!state.members[of]?.alive)
        on(`sees that the connection of ${of} has ended`, (self) => {
          self.believed = self.believed.filter((each) => each !== of);
          self.calls.push(of);
        });
    if (state.rotations > 0 && !broker.serves)
      on(
        'goes on in another journal',
        (self, next) => {
          next.rotations--;
          const { n, known } = newestOf(self);
          self.journals.push({ n: n + 1, known: structuredClone(known) });
        },
        true,
      );
    if (broker.journals.length > 1)
      on('removes its journal before', (self) => {
        self.journals.shift();
      });
    const { serves } = broker;
    if (!serves) {
      const { held, queue } = newestOf(broker).known;
      for (const [of] of [...held, ...queue]) {
        const isDead = !state.members[of]?.alive;
        // The mutant takes a process for dead if the socket of its broker is not there.
        const seems =
          !this.#has('probesMembers') && !state.brokers.some((each) => each.member === of && each.phase === 'serving');
        if (isDead || seems) on(`finds ${of} dead`, (self) => take(self, { letter: 'reap', member: of }));
      }
      for (const [from, { up, to, phase }] of state.members.entries())
        if (phase === 'connected' && to === at && up.length > 0 && this.#isSure(state, broker, up[0] as Line))
          on(`takes a line of ${from}`, (self, next) => take(self, (next.members[from] as Member).up.shift() as Line));
      return;
    }
    const { line, stage } = serves;
    const answer = (out: readonly [number, News][], next: TakeoverState): void => {
      for (const [to, news] of out) {
        const member = next.members[to] as Member;
        if (member.alive && member.phase === 'connected' && member.to === at) member.down.push(news);
      }
    };
    if (stage === 'half') {
      if (!this.#has('appendsFirst') && serves.out.length === 0)
        on('answers before it appends', (self, next) => {
          const out = run(structuredClone(newestOf(self).known), line, permits);
          answer(out, next);
          self.serves = { line, stage, out };
        });
      else
        on('B1 appends the other half', (self) => {
          const journal = newestOf(self);
          delete journal.half;
          const out = run(journal.known, line, permits);
          if (this.#has('appendsFirst')) self.serves = { line, stage: 'appended', out };
          else delete self.serves;
        });
      return;
    }
    const isFirst = (stage === 'appended') === this.#has('looksForNextFirst');
    const looks = this.#has(isFirst ? 'looksForNext' : 'looksAtOwn');
    const isCurrent = isFirst ? !isLinked(state, broker.generation + 1) : broker.linked;
    on(isFirst ? 'B2 looks for the next generation' : 'B3 looks at its own', (self, next) => {
      if (looks && !isCurrent) end(self);
      else if (stage === 'appended') (self.serves as { stage: string }).stage = 'looked';
      else {
        // B4 is no step of its own, because an answer under way may arrive at any later time.
        answer(serves.out, next);
        delete self.serves;
      }
    });
  }

  /** Whether the broker may take the line: it knows that those live because of whom it says no. */
  #isSure({ members }: TakeoverState, broker: Broker, { letter, member }: Line): boolean {
    const { known } = newestOf(broker);
    if (letter !== 'try' || !isRefused(known, member, this.#of.permits)) return true;
    const isBelieved = [...known.held, ...known.queue].every(([of]) => broker.believed.includes(of));
    const isRead = !broker.believed.some((of) => members[member]?.ended?.includes(of));
    return (isBelieved || !this.#has('asksBeforeNo')) && (isRead || !this.#has('readsEnds'));
  }
}

const knownOf = ({ ticket, held, queue }: Known): unknown => [ticket, held, queue];
const lineOf = ({ letter, member, lists }: Line): unknown => [letter, member, lists];
const newsOf = ({ is, ticket, entered }: News): unknown => [is, ticket, entered];

/** Takes a line, and appends its first half. */
function take(self: Broker, line: Line): void {
  newestOf(self).half = line;
  self.serves = { line, stage: 'half', out: [] };
}

function leave(self: Member): void {
  drop(self);
  self.want = 'done';
}

/** The member has no connection any more. */
function drop(self: Member): void {
  Object.assign(self, { phase: 'looking', to: -1, entered: false, up: [], down: [] });
  delete self.called;
  delete self.asks;
  delete self.dead;
}

function usurp(self: Member): void {
  const { to } = self;
  drop(self);
  Object.assign(self, { phase: 'usurping', to });
}

/** The broker answers nothing more. Its files stay. */
function end(broker: Broker): void {
  broker.phase = 'over';
  broker.before = -1;
  broker.calls = [];
  broker.believed = [];
  delete broker.serves;
  delete broker.known;
  delete broker.chosen;
}

const newestOf = ({ journals }: Broker): Journal => journals.at(-1) as Journal;

const isLinked = ({ brokers }: TakeoverState, generation: number): boolean =>
  brokers.some((each) => each.linked && each.generation === generation);

function highestOf({ brokers }: TakeoverState): Broker | undefined {
  let highest: Broker | undefined;
  for (const broker of brokers) if (broker.linked && broker.generation > (highest?.generation ?? 0)) highest = broker;
  return highest;
}

/** The brokers that a list of the directory may show as the highest; -1 stands for none. listed: what was there first. */
function foundBy(state: TakeoverState, listed: readonly number[] | undefined): number[] {
  const { brokers } = state;
  if (!listed) return [brokers.indexOf(highestOf(state) as Broker)];
  const isThere = (each: number): boolean => brokers[each]?.linked === true;
  const must = listed.filter(isThere);
  const least = Math.max(0, ...must.map((each) => (brokers[each] as Broker).generation));
  const may = [...brokers.keys()].filter((each) => isThere(each) && (brokers[each] as Broker).generation >= least);
  return must.length > 0 ? may : [-1, ...may];
}

const exists = ({ journals }: Broker): boolean => journals.some(({ removed }) => !removed);

/** The last generation of which there is a journal. */
const lastOf = ({ brokers }: TakeoverState): number =>
  Math.max(0, ...brokers.map((broker) => (exists(broker) ? broker.generation : 0)));

function journalBelow(
  { brokers }: TakeoverState,
  generation: number,
): { broker: Broker; n: number; known: Known } | undefined {
  const below = brokers.filter((each) => each.generation < generation && exists(each));
  const [broker] = below.sort((a, b) => b.generation - a.generation);
  if (!broker) return undefined;
  const { n, known } = newestOf(broker);
  return { broker, n, known };
}
