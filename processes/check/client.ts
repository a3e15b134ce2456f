/**
 * The model of a process: what session.ts does, but without time. It has one session in one partition. The model says
 * what the process wants, and what it does when an answer or a message comes. A process is plain data. The search
 * copies these data to try several next steps, and writes them as a text to recognise a state that it has seen before.
 */

/** One thing that a process wants to do. */
export interface Want {
  readonly object: number;
  readonly n: number;
  /** The process asks for the permits and does not wait for them. */
  readonly tries?: boolean;
  /** How many permits the process gives back first, before it gives back the rest. */
  readonly part?: number;
  /** The process holds the permits to the end. */
  readonly keeps?: boolean;
  /** The process does not repair the data of dead holders. It gives the deaths back: the next holder is told. */
  readonly fails?: boolean;
}

export interface ObjectSettings {
  readonly name: string;
  readonly kind: 's' | 'm' | 'w';
  readonly max: number;
  readonly robust?: boolean;
  readonly ephemeral?: boolean;
  readonly bypass?: number;
}

export type RequestState = 'asked' | 'waiting' | 'held' | 'leaving' | 'returning';

export interface Request {
  readonly rid: string;
  readonly want: Want;
  state: RequestState;
  ticket: string;
  kept: number;
  wanted: number;
  deaths: number;
  note: 'c' | 'r' | 'd';
  lent: number;
  passes: number;
  served: string[];
  /** How often other requests were served before this one. */
  overtaken: number;
  /** Whether the first part (`Want.part`) was given back. */
  parted: boolean;
  /** The number of the message by which the request was granted; 0 if an answer granted it. */
  heard: number;
  /** Whether the client knows that the request stood in the queue. */
  hasWaited: boolean;
  /** The history in which the server last had no permits for the request. For the search alone: no client knows it. */
  refusedIn: string;
}

/** One operation of a call. */
export interface Operation {
  readonly args: readonly string[];
  readonly rid?: string;
  readonly object?: number;
  readonly listed?: readonly string[];
}

/** A call that was sent and whose answer has not come. */
export interface Call {
  readonly sid: string;
  readonly conn: number;
  readonly operations: readonly Operation[];
  /** The answer of the server, if it is under way to the client. */
  readonly reply?: readonly unknown[];
}

export interface Message {
  readonly sid: string;
  readonly text: string;
}

/** An event in a process: a fault; or a grant or a time-out, which the search looks at. */
export type Event = { readonly fault: string } | { readonly granted: Request } | Expired;

/** A caller hears that its time-out has passed. history: the history of the data, as the process knows it. */
export interface Expired {
  readonly expired: Request;
  readonly history: string;
}

const BASE = 2 ** 32;
export const CHANNEL = 'c:';
export const LEASE = '10000';

export const hex = (value: number, width: number): string => value.toString(16).padStart(width, '0');

export class Client {
  alive = true;
  phase: 'closed' | 'entering' | 'open' = 'closed';
  sid = '';
  sids = 0;
  conn = 0;
  epoch = '';
  lastSeq = 0;
  /** The connection whose messages count; -1 after a loss. */
  hears = 0;
  /** A message has not come. The process must send `S`, which compares its list of requests with the server. */
  hasGap = false;
  lastNumber = 0;
  /** The answer that the process is reading shows that the data have another history. */
  isElsewhere = false;
  next = 0;
  /** Other sessions may take what it holds: its deadline has passed, and no renewal has reached the server since. */
  lapsed = false;
  /** It would be no fault if the process lost a hold. */
  mayLose = false;
  requests: Request[] = [];
  opened: { in: string; born: string }[] = [];
  batch: Operation[] = [];
  pipe: Call[] = [];
  ghosts: Call[] = [];
  inbox: Message[] = [];

  readonly index: number;
  readonly objects: readonly ObjectSettings[];
  readonly wants: readonly Want[];
  readonly rules: Rules;
  /** Somebody disposes of objects, cancels all waiters or takes permits away, so requests may fail. */
  readonly expels: boolean;
  /** Somebody revokes holds. */
  readonly revokes: boolean;

  constructor(
    index: number,
    objects: readonly ObjectSettings[],
    wants: readonly Want[],
    rules: Rules,
    expels: boolean,
    revokes: boolean,
  ) {
    this.index = index;
    this.objects = objects;
    this.wants = wants;
    this.rules = rules;
    this.expels = expels;
    this.revokes = revokes;
    this.opened = objects.map(() => ({ in: '', born: '-' }));
  }

  clone(): Client {
    const copy = Object.assign(
      new Client(...([this.index, this.objects, this.wants, this.rules, this.expels, this.revokes] as const)),
      this,
    );
    copy.requests = this.requests.map((request) => ({ ...request }));
    copy.opened = this.opened.map((object) => ({ ...object }));
    copy.batch = [...this.batch];
    copy.pipe = [...this.pipe];
    copy.ghosts = [...this.ghosts];
    copy.inbox = [...this.inbox];
    return copy;
  }

  text(): string {
    const call = (each: Call): string =>
      `${each.sid},${each.conn},${each.operations.map((op) => op.args.join(' ')).join('+')}=${each.reply?.join('+') ?? '?'}`;
    const requests = this.requests.map((r) =>
      [r.rid, r.state, r.ticket, r.kept, r.wanted, r.deaths, r.note, r.lent, r.passes, r.served.join('.')]
        .concat([r.overtaken, r.parted ? 1 : 0, r.heard].map(String))
        // What has been is of use only as long as the request may fail.
        .concat(r.state === 'asked' || r.state === 'leaving' ? String(r.hasWaited) : '')
        .concat(r.refusedIn)
        .join(','),
    );
    return [
      ...[
        this.alive,
        this.phase,
        this.sid,
        this.sids,
        this.conn,
        this.epoch,
        this.lastSeq,
        this.hears,
        this.hasGap,
        this.lastNumber,
        this.next,
      ],
      ...[
        this.lapsed,
        this.mayLose,
        requests.join(';'),
        this.opened.map((each) => `${each.in},${each.born}`).join(';'),
      ],
      ...[this.batch.map((op) => op.args.join(' ')).join('+'), this.pipe.map(call).join(';')],
      ...[this.ghosts.map(call).join(';'), this.inbox.map((message) => message.sid + message.text).join('|')],
    ].join('/');
  }

  /** Whether it wants nothing more. */
  get isDone(): boolean {
    return (
      this.next === this.wants.length &&
      this.requests.every(({ state, want }) => state === 'held' && want.keeps === true)
    );
  }

  #request(rid: string | undefined): Request | undefined {
    return this.requests.find((request) => request.rid === rid);
  }

  #end(request: Request): void {
    this.requests = this.requests.filter((each) => each !== request);
  }

  /** Its session stands, and its objects are open. */
  open(sid: string, epoch: string): void {
    this.phase = 'open';
    this.sid = sid;
    this.sids = 1;
    this.epoch = epoch;
    this.opened = this.opened.map(({ born }) => ({ in: `${sid}.${epoch}`, born }));
  }

  // What its program does ---------------------------------------------------------------------------------------------

  ask(): void {
    const want = this.wants[this.next++] as Want;
    const request: Request = {
      rid: hex(++this.lastNumber, 10),
      want,
      state: 'asked',
      ticket: '',
      kept: 0,
      wanted: 0,
      deaths: 0,
      note: want.fails ? 'r' : 'c',
      lent: 0,
      passes: 0,
      served: [],
      overtaken: 0,
      parted: false,
      heard: 0,
      hasWaited: false,
      refusedIn: '',
    };
    this.requests.push(request);
    if (this.phase === 'open') this.#sendAsk(request);
    else this.phase = 'entering';
    this.flush();
  }

  #sendAsk(request: Request): void {
    const { object: at, n, tries } = request.want;
    const settings = this.objects[at] as ObjectSettings;
    const opened = this.opened[at] as { in: string; born: string };
    const key = `${this.sid}.${this.epoch}`;
    if (settings.ephemeral || opened.in !== key) {
      opened.in = key;
      opened.born = '-';
      this.batch.push({ args: openingOf(settings), object: at });
    }
    request.state = 'asked';
    this.batch.push({
      args: [tries ? 'T' : 'A', settings.name, opened.born, request.rid, hex(n, 8)],
      rid: request.rid,
    });
  }

  /**
   * A time-out, or an abort. decides: the caller waits for the server's answer. Without an open session, the server is
   * asked when there is one.
   */
  giveUp(rid: string, decides: boolean, events: Event[]): void {
    const request = this.#request(rid) as Request;
    // It has waited for the answer for long enough: the cancellation is under way, or the next list leaves it out.
    if (request.state === 'leaving') {
      this.#end(request);
      return;
    }
    const { asksLate, tellsWhoLeaves } = this.rules;
    const isOpen = this.phase === 'open';
    if (isOpen && tellsWhoLeaves) this.batch.push({ args: ['C', rid], rid });
    if (!decides || (isOpen && !tellsWhoLeaves)) this.#end(request);
    else if (isOpen || asksLate) request.state = 'leaving';
    else this.#expire(request, events);
    this.flush();
  }

  /** The time-out has passed, and nobody has asked the server yet. */
  #askLate(request: Request): void {
    this.#sendAsk(request);
    request.state = 'leaving';
    if (this.rules.takesBack) this.batch.push({ args: ['C', request.rid], rid: request.rid });
  }

  /** The caller hears that its time-out has passed. So there must have been no permits for it, as things are now. */
  #expire(request: Request, events: Event[]): void {
    this.#end(request);
    events.push({ expired: request, history: this.epoch.slice(-40) });
  }

  giveBack(rid: string): void {
    const request = this.#request(rid) as Request;
    const { part = 0 } = request.want;
    if (part > 0 && !request.parted) {
      request.parted = true;
      request.wanted -= part;
    } else {
      request.wanted = 0;
      request.state = 'returning';
    }
    if (this.phase === 'open') this.#sendBack(request);
    this.flush();
  }

  /** The next waiter of this process to which it may pass a mutex on. */
  nextOf(rid: string): Request | undefined {
    const base = this.#request(rid) as Request;
    const { object } = base.want;
    if ((this.objects[object] as ObjectSettings).kind !== 'm' || base.passes >= base.lent) return undefined;
    return this.requests.find(
      (each) => each.want.object === object && !each.want.tries && (each.state === 'asked' || each.state === 'waiting'),
    );
  }

  passOn(rid: string): Request {
    const base = this.#request(rid) as Request;
    const next = this.nextOf(rid) as Request;
    base.served = [...base.served, next.rid];
    base.passes++;
    this.#end(next);
    return next;
  }

  #sendBack(request: Request): void {
    const { kept, wanted, deaths, passes, served, note, want } = request;
    this.batch.push({
      args: [
        ...['D', (this.objects[want.object] as ObjectSettings).name, request.rid, request.ticket, hex(kept, 8)],
        ...[String(kept - wanted), deaths > 0 || note === 'd' ? note : '-', String(passes), String(served.length)],
        ...served,
      ],
      rid: request.rid,
    });
    request.kept = wanted;
  }

  beat(seen: string): void {
    this.#call([{ args: ['B', seen] }]);
  }

  /** Ends the session. Only when it wants nothing more. */
  close(): void {
    this.#call([{ args: ['X'] }]);
  }

  /** An operation that belongs to no request. */
  operate(args: readonly string[]): void {
    this.batch.push({ args });
    this.flush();
  }

  // Calls -------------------------------------------------------------------------------------------------------------

  flush(): void {
    if (this.phase !== 'open' || this.batch.length === 0) return;
    const operations = this.batch;
    this.batch = [];
    this.#call(operations);
  }

  #call(operations: readonly Operation[]): void {
    this.pipe.push({ sid: this.sid, conn: this.conn, operations });
  }

  answered(events: Event[]): void {
    const call = this.pipe.shift() as Call;
    const reply = call.reply as unknown[];
    const [first] = reply;
    const kind = call.operations[0]?.args[0];
    if (kind === 'O') this.#entered(call, reply, events);
    else if (first === 'DEAD' || first === 'STALE') {
      if (kind !== 'B' && kind !== 'X') this.#again(call.operations);
      if (kind === 'X') return;
      if (first === 'DEAD') this.#died(events);
      else this.#lost();
    } else if (kind === 'B') {
      const [, seq, , , epoch] = String(first).split(' ');
      if (epoch !== this.epoch && this.rules.comparesHistories) {
        this.#lost();
        return;
      }
      for (const entry of reply.slice(1)) if (entry !== '+') this.#hear(String(entry), 0, events);
      if (Number(seq) !== this.lastSeq && this.rules.comparesNumbers) this.#compare();
    } else if (kind === 'X' && first === '+') this.close();
    else if (kind === 'X') {
      this.phase = 'closed';
      this.sid = '';
      this.inbox = [];
    } else {
      call.operations.forEach((operation, at) => {
        this.#answer(operation, reply[at], events);
      });
      for (const entry of reply.slice(call.operations.length)) if (entry !== '+') this.#hear(String(entry), 0, events);
      const isUnknown = call.operations.some(({ args }, at) => args[0] === 'D' && reply[at] === 'G');
      const { isElsewhere } = this;
      this.isElsewhere = false;
      if ((isUnknown || isElsewhere) && this.rules.comparesHistories) {
        this.#lost();
        return;
      }
    }
    this.flush();
  }

  /** Operations that no `S` settles are sent again. A list of before is not: see session.ts. */
  #repeats({ rid, listed }: Operation): boolean {
    return rid === undefined && (listed === undefined || !this.rules.listsAnew);
  }

  #again(operations: readonly Operation[]): void {
    this.batch.unshift(...operations.filter((operation) => this.#repeats(operation)));
  }

  #answer(operation: Operation, answer: unknown, events: Event[]): void {
    const text = String(answer);
    const request = this.#request(operation.rid);
    switch (operation.args[0]) {
      case 'N':
        if (!text.startsWith('N ')) events.push({ fault: `an object cannot be opened: ${text}` });
        else if (!(this.objects[operation.object as number] as ObjectSettings).ephemeral)
          (this.opened[operation.object as number] as { born: string }).born = text.slice(2);
        break;
      case 'A':
      case 'T':
        if (!request) break;
        if (text[0] === 'M') this.#end(request);
        else if (text[0] === 'H') this.#granted(request, text.slice(2), 0, events);
        else if (text[0] === 'Q') {
          if (request.state === 'asked') this.#queued(request);
        } else if (text === 'R') this.#end(request);
        else if (request.state === 'asked' || request.state === 'leaving') this.#fail(request, 'disposed', events);
        break;
      case 'C':
        this.#cancelled(operation.rid as string, text, events);
        break;
      case 'D':
        if (request?.state === 'returning' && request.wanted === 0 && request.kept === 0) this.#end(request);
        break;
      case 'L':
      case 'K': {
        // Some are left.
        const [, name = '', born = ''] = operation.args;
        if (text === '+') this.batch.push({ args: ['K', name, born] });
        else if (text[1] === ' ') this.batch.push({ args: ['L', name, born, text.slice(2)] });
        break;
      }
      case 'S': {
        const [head, ...states] = answer as string[];
        if ((head as string).split(' ')[2] !== this.epoch && this.rules.comparesHistories) {
          this.isElsewhere = true;
          break;
        }
        this.lastSeq = Math.max(this.lastSeq, Number((head as string).split(' ')[1]));
        operation.listed?.forEach((rid, at) => {
          const each = this.#request(rid);
          const state = states[at] as string;
          if (each?.state === 'held' && state === 'G') this.#revoked(each, events);
          if (each?.state !== 'asked' && each?.state !== 'waiting') return;
          if (state[0] === 'H') this.#granted(each, state.slice(2), 0, events);
          else if (state === 'G' && each.state === 'waiting') this.#fail(each, 'expelled', events);
        });
        break;
      }
    }
  }

  #queued(request: Request): void {
    request.state = 'waiting';
    request.hasWaited = true;
  }

  #fail(request: Request, why: 'disposed' | 'expelled', events: Event[]): void {
    this.#end(request);
    if (!this.expels && !this.revokes) events.push({ fault: `a request is told that it was ${why}` });
  }

  #granted(request: Request, text: string, seq: number, events: Event[]): void {
    const [ticket = '', deaths, lent] = text.split(':');
    const { state } = request;
    if (state !== 'asked' && state !== 'waiting' && state !== 'leaving') return;
    request.state = 'held';
    request.ticket = ticket;
    request.kept = request.want.n;
    request.wanted = request.want.n;
    request.deaths = Number(deaths);
    request.lent = Number(lent);
    request.heard = seq;
    events.push({ granted: request });
  }

  #cancelled(rid: string, answer: string, events: Event[]): void {
    const request = this.#request(rid);
    if (answer[0] === 'H') {
      if (request?.state === 'leaving') this.#granted(request, answer.slice(2), 0, events);
      else if (!request) this.#undo(rid, answer);
    } else if (request?.state === 'leaving') this.#expire(request, events);
  }

  /** The server has granted what nobody here wants any more. It goes back at once. */
  #undo(rid: string, answer: string): void {
    const want = this.wants[Number.parseInt(rid, 16) - 1] as Want;
    const request: Request = {
      ...{ rid, want, state: 'returning', ticket: answer.slice(2).split(':')[0] as string, kept: want.n },
      ...{ wanted: 0, deaths: 1, note: 'r', lent: 0, passes: 0, served: [], overtaken: 0, parted: true, heard: 0 },
      ...{ hasWaited: false, refusedIn: '' },
    };
    this.requests.push(request);
    this.#sendBack(request);
  }

  // Messages ----------------------------------------------------------------------------------------------------------

  heard(events: Event[]): void {
    const { text } = this.inbox.shift() as Message;
    const at = text.indexOf(';');
    const seq = Number(text.slice(0, at));
    if (Math.floor(seq / BASE) !== this.hears) return;
    const isNext = seq === this.lastSeq + 1;
    if (seq > this.lastSeq) this.lastSeq = seq;
    for (const entry of text.slice(at + 1).split(',')) this.#hear(entry, seq, events);
    if (!isNext && this.rules.comparesNumbers) this.#compare();
    this.flush();
  }

  #hear(entry: string, seq: number, events: Event[]): void {
    if (entry[0] === '!') return;
    const request = this.#request(entry.slice(0, 10));
    const text = entry.slice(11);
    if (!request) return;
    if (text === 'r') this.#revoked(request, events);
    else if (text[0] === 'm') this.#end(request);
    else if (text === 'x' || text === 'c') this.#fail(request, text === 'x' ? 'disposed' : 'expelled', events);
    else this.#granted(request, text, seq, events);
  }

  /** Its hold was taken away, or will be said to have been granted: then it knows better. */
  #revoked(request: Request, events: Event[]): void {
    // The server has those in its queue still to which a mutex was passed on.
    if (request.served.length > 0 && this.rules.dropsServed) this.#compare();
    if (!this.revokes) events.push({ fault: 'a hold is revoked, and nobody has done that' });
    this.#end(request);
  }

  #compare(): void {
    if (this.phase === 'open') this.batch.push(this.#listing());
    else if (this.rules.remembersGaps) this.hasGap = true;
  }

  #listing(): Operation {
    const listed = this.requests.map(({ rid }) => rid);
    return {
      args: [
        'S',
        '',
        this.rules.settlesListedOnly ? hex(this.lastNumber, 10) : 'ffffffffff',
        String(listed.length),
        ...listed,
      ],
      listed,
    };
  }

  // Entering ----------------------------------------------------------------------------------------------------------

  /** The connection is lost. again: the driver sends what was not answered once more on the new one. */
  cut(again: boolean): void {
    if (this.phase === 'open') this.#lost(again);
    else this.#leave(again);
  }

  /** What is under way may arrive later, or never. */
  #leave(again: boolean): Call[] {
    const { pipe } = this;
    this.pipe = [];
    this.ghosts.push(...pipe.filter(({ reply }) => again || !reply).map(({ reply: _, ...call }) => call));
    return pipe;
  }

  #lost(again = false): void {
    this.phase = 'entering';
    this.batch = this.batch.filter((operation) => this.#repeats(operation));
    if (this.rules.hearsNothingWhenLost) this.hears = -1;
    if (this.rules.opensAgain)
      this.opened = this.opened.map((each) => (each.born === '-' ? { in: '', born: '-' } : each));
    for (const { operations } of this.#leave(again).reverse())
      if (!['O', 'B', 'X'].includes(operations[0]?.args[0] ?? '')) this.#again(operations);
  }

  #died(events: Event[]): void {
    this.sid = '';
    this.#lose(true, events);
    this.#lost();
  }

  /** Whether it has something to do in a session. */
  get isNeeded(): boolean {
    return this.requests.length > 0 || this.batch.length > 0;
  }

  get mayEnter(): boolean {
    return this.phase === 'entering' && this.pipe.length === 0;
  }

  enter(): void {
    if (this.sid === '' && !this.isNeeded) {
      this.phase = 'closed';
      return;
    }
    const isNew = this.sid === '';
    let { sid } = this;
    if (isNew) {
      sid = `p${hex(this.index + 1, 7)}${hex(++this.sids, 8)}`;
      this.inbox = [];
      this.conn = 0;
    } else if (this.rules.numbersConnections) this.conn++;
    this.lastSeq = this.conn * BASE;
    this.hears = this.conn;
    this.hasGap = false;
    const operations: Operation[] = [{ args: ['O', '2', '1', LEASE, 'x', '-', '0'] }];
    if (!isNew) operations.push(this.#listing());
    this.pipe.push({ sid, conn: this.conn, operations });
  }

  #entered(call: Call, reply: readonly unknown[], events: Event[]): void {
    const first = String(reply[0]);
    const isNew = this.sid === '';
    if (first === 'DEAD' || first === 'STALE') {
      this.sid = '';
      this.#lose(true, events);
      return;
    }
    const epoch = first.split(' ')[2] as string;
    const isAnother = this.epoch !== '' && epoch !== this.epoch;
    this.epoch = epoch;
    this.sid = call.sid;
    this.phase = 'open';
    const others = this.batch;
    this.batch = [];
    const listed = call.operations[1]?.listed ?? [];
    if (!isNew) this.#settle(listed, reply[1] as string[], isAnother, events);
    const known = new Set(listed);
    for (const request of this.requests) {
      if (known.has(request.rid)) continue;
      if (request.state === 'asked' || request.state === 'waiting') this.#sendAsk(request);
      else if (request.state === 'leaving') this.#askLate(request);
    }
    this.batch.push(...others);
    if (this.hasGap) this.#compare();
    this.hasGap = false;
  }

  #settle(listed: readonly string[], [head = '', ...states]: string[], isAnother: boolean, events: Event[]): void {
    const seq = head.split(' ')[1];
    this.lastSeq = Math.max(this.lastSeq, Number(seq));
    listed.forEach((rid, at) => {
      const answer = states[at] as string;
      const kind = answer[0];
      const request = this.#request(rid);
      switch (request?.state) {
        case 'asked':
        case 'waiting':
          if (kind === 'H') this.#granted(request, answer.slice(2), 0, events);
          else if (kind === 'Q') this.#queued(request);
          else if (request.state === 'waiting' && !isAnother) this.#fail(request, 'expelled', events);
          else {
            this.#sendAsk(request);
          }
          break;
        case 'held':
        case 'returning':
          this.#settleHeld(request, answer, Number(seq), events);
          break;
        case 'leaving':
          if (kind === 'Q') this.batch.push({ args: ['C', rid], rid });
          else if (kind === 'G' && this.#isUnasked(request, isAnother)) this.#askLate(request);
          else this.#cancelled(rid, answer, events);
          break;
        case undefined:
          // Given up meanwhile, or passed on: then it is taken off the queue when the turn ends.
          if (this.requests.some(({ served }) => served.includes(rid))) break;
          if (kind === 'Q') this.batch.push({ args: ['C', rid], rid });
          else if (kind === 'H') this.#undo(rid, answer);
          break;
      }
    });
  }

  /** Whether the server has not been asked for a request that it does not know, or another server was. */
  #isUnasked({ hasWaited }: Request, isAnother: boolean): boolean {
    const { asksUnknown, asksInAnother } = this.rules;
    return hasWaited ? isAnother && asksInAnother : asksUnknown;
  }

  #settleHeld(request: Request, answer: string, seq: number, events: Event[]): void {
    if (answer[0] === 'H') {
      const [ticket, deaths, lent, , permits] = answer.slice(2).split(':');
      if (ticket === request.ticket) {
        request.kept = Number(permits);
        request.deaths = Number(deaths);
        request.lent = Number(lent);
        if (request.kept > request.wanted) this.#sendBack(request);
        else if (request.wanted === 0) this.#end(request);
        return;
      }
    }
    // Granted by a message that came before the answer, after the server had written it.
    if (this.rules.comparesHeard && request.heard > seq) {
      if (request.kept > request.wanted) this.#sendBack(request);
      return;
    }
    const wasHeld = request.state === 'held';
    this.#end(request);
    if (answer[0] === 'Q') this.batch.push({ args: ['C', request.rid], rid: request.rid });
    else if (answer[0] === 'H' && this.rules.returnsOtherGrants) this.#undo(request.rid, answer);
    if (wasHeld && !this.mayLose && !this.revokes)
      events.push({ fault: 'a hold is lost, though nothing has happened to it' });
  }

  // The lease ---------------------------------------------------------------------------------------------------------

  /** No answer has come for 0.85 of the lease. All that is held is lost, and the connection is made anew. */
  lapse(): void {
    this.lapsed = true;
    this.mayLose = true;
    if (this.rules.losesInTime) this.#lose(false, []);
    this.flush();
    this.cut(false);
  }

  /** forgotten: the server has taken it back. */
  #lose(forgotten: boolean, events: Event[]): void {
    for (const request of this.requests) {
      const { state } = request;
      if (state === 'held') {
        if (forgotten && !this.mayLose) events.push({ fault: 'the session is lost, though it was renewed' });
        request.wanted = 0;
        request.note = 'd';
        request.state = 'returning';
      }
      if (forgotten) {
        if (state === 'held' || state === 'returning') this.#end(request);
        else if (state !== 'leaving') request.state = 'asked';
        else if (!this.rules.asksForgotten) this.#expire(request, events);
      } else if (state === 'held' && this.phase === 'open') this.#sendBack(request);
    }
  }

  kill(): void {
    this.cut(false);
    this.alive = false;
    this.inbox = [];
    this.requests = [];
    this.batch = [];
  }
}

/** Rules of the client. For each rule, RULE_SEARCHES has a search that shows what goes wrong without it. */
export interface Rules {
  /** If a message has granted a request, an answer that the server wrote before the message does not undo the grant. */
  readonly comparesHeard: boolean;
  /** After the loss of a connection no message counts until the next connection has sent `O`. */
  readonly hearsNothingWhenLost: boolean;
  /** If the numbers of messages show a gap while the session is being entered, the client remembers the gap. */
  readonly remembersGaps: boolean;
  /** An operation that opens an object and was not answered is sent again, before any request. */
  readonly opensAgain: boolean;
  /** The answer of a comparison (`S`) settles no request that was made after the comparison. */
  readonly settlesListedOnly: boolean;
  /** The client compares the numbers of messages, at beats and when messages come. */
  readonly comparesNumbers: boolean;
  /** A comparison that was cut off is not sent again. */
  readonly listsAnew: boolean;
  /** Each connection of a session has a number, and a call of a connection that was replaced does nothing. */
  readonly numbersConnections: boolean;
  /** The client notices a change of the history while its connection lives: at beats, and if a return is unknown. */
  readonly comparesHistories: boolean;
  /** The client counts its holds as lost before its lease ends on the server. */
  readonly losesInTime: boolean;
  /** The client tells the server when a request is given up. */
  readonly tellsWhoLeaves: boolean;
  /** A request that a driver has sent twice may be granted twice. The client gives the second grant back. */
  readonly returnsOtherGrants: boolean;
  /** If a mutex is revoked, the requests to which it was passed on within the process leave the queue. */
  readonly dropsServed: boolean;
  /** If a time-out passes while no session is open, the server is asked when there is one. */
  readonly asksLate: boolean;
  /** The same if the server does not know the request, and has not had it in its queue. */
  readonly asksUnknown: boolean;
  /** The same if the server has forgotten the session. */
  readonly asksForgotten: boolean;
  /** The same if the server had the request in its queue, and its data have another history now. */
  readonly asksInAnother: boolean;
  /** A request for which the server is asked so late is taken back at once. */
  readonly takesBack: boolean;
}

export const RULES: Rules = {
  comparesHeard: true,
  hearsNothingWhenLost: true,
  remembersGaps: true,
  opensAgain: true,
  settlesListedOnly: true,
  comparesNumbers: true,
  listsAnew: true,
  numbersConnections: true,
  comparesHistories: true,
  losesInTime: true,
  tellsWhoLeaves: true,
  returnsOtherGrants: true,
  dropsServed: true,
  asksLate: true,
  asksUnknown: true,
  asksForgotten: true,
  asksInAnother: true,
  takesBack: true,
};

export function openingOf({ name, kind, max, robust, ephemeral, bypass }: ObjectSettings): string[] {
  return ['N', name, kind, String(max), robust ? '1' : '0', ephemeral ? '1' : '0', String(bypass ?? 0)];
}
