/**
 * The protocol as a graph of states. A state consists of the processes, the calls and messages under way, and the data
 * of the server. A step leads from one state to another: it is one event that may happen next. The server runs the
 * shipped script. The processes are the model of client.ts.
 */
import {
  CHANNEL,
  Client,
  type Event,
  hex,
  LEASE,
  type ObjectSettings,
  openingOf,
  RULES,
  type Rules,
  type Want,
} from './client.js';
import { Data, type Surroundings } from './data-model.js';
import { faultOf, type Grant, heldOf, leftOf, queueOf, recordsOf, stepOf } from './invariants.js';
import { type Reply, Server, turnChunk } from './server.js';

/** Which events may happen, and how often each. */
export interface Budget {
  /** A connection is cut. Calls of it that the server has not run may run later, or never. */
  readonly cuts?: number;
  /** A message is lost. */
  readonly losses?: number;
  /** A request is given up. The search tries both ways: the caller waits for the answer of the server, or does not. */
  readonly timeouts?: number;
  /** A process is killed. */
  readonly kills?: number;
  /** A process finds that its lease may have ended. */
  readonly lapses?: number;
  /** The server takes the lease of a process that still relies on it. */
  readonly reapings?: number;
  /** The data become an older copy of themselves, with another history. */
  readonly failovers?: number;
  /** The same, but the connections live on: the server was the replica of another server meanwhile. */
  readonly returns?: number;
  /** The data have another history, but nothing is lost: the server has got its first replica. */
  readonly changes?: number;
  /** A driver sends the calls that were not answered again. */
  readonly resends?: number;
  /** Somebody disposes of the first object, or cancels its waiters. */
  readonly disposals?: number;
  readonly cancels?: number;
  /** Somebody revokes a hold of the first object, or gives the object one permit less or more. */
  readonly revocations?: number;
  readonly shrinks?: number;
  readonly growths?: number;
}

export interface Configuration {
  readonly name: string;
  readonly objects: readonly ObjectSettings[];
  readonly clients: readonly (readonly Want[])[];
  readonly budget: Budget;
  /** A process makes a request only when its request before has ended. Otherwise it makes requests at any time. */
  readonly sequential?: boolean;
  /** The processes have no session yet. */
  readonly cold?: boolean;
  /** A process ends its session when it is done. */
  readonly closes?: boolean;
  /** Nobody has opened the objects yet. */
  readonly unmade?: boolean;
  /** The first steps, by the beginnings of their labels. The search tries only what can follow these steps. */
  readonly after?: readonly string[];
  readonly constants?: Readonly<Record<string, number>>;
  readonly rules?: Partial<Rules>;
}

type Counts = { [K in keyof Budget]-?: number };

/** The server's data by number, with the checks of each and of each call, made once. */
class Servers {
  readonly #ids = new Map<string, number>();
  readonly #data: Data[] = [];
  readonly #faults: (string | undefined)[] = [];
  readonly #turns = new Map<string, Outcome>();
  readonly #server: Server;
  readonly #settled = new Map<number, string | undefined>();

  constructor(server: Server) {
    this.#server = server;
  }

  id(data: Data): number {
    const text = data.text();
    let id = this.#ids.get(text);
    if (id === undefined) {
      id = this.#data.length;
      this.#ids.set(text, id);
      this.#data.push(data);
      this.#faults.push(faultOf(data));
    }
    return id;
  }

  data(id: number): Data {
    return this.#data[id] as Data;
  }

  fault(id: number): string | undefined {
    return this.#faults[id];
  }

  turn(before: number, args: readonly string[], history: number): Outcome {
    const key = `${before} ${history} ${args.join('\x01')}`;
    let outcome = this.#turns.get(key);
    if (!outcome) {
      const data = this.data(before);
      const turn = this.#server.turn(data, args, surroundings(history));
      const { granted, fault } = stepOf(data, turn, args);
      outcome = {
        after: this.id(turn.data),
        reply: turn.reply,
        messages: turn.published.map(({ channel, text }) => ({ sid: channel.slice(-16), text })),
        granted,
        fault,
      };
      this.#turns.set(key, outcome);
    }
    return outcome;
  }

  /** When all sessions die, everything goes back, and nothing stays behind. */
  settles(id: number, history: number): string | undefined {
    if (!this.#settled.has(id)) this.#settled.set(id, this.#settle(id, history));
    return this.#settled.get(id);
  }

  #settle(id: number, history: number): string | undefined {
    const broom = hex(0xb, 16);
    const opening = this.turn(id, [broom, '0', CHANNEL, 'O', '2', '1', LEASE, 'x', '-', '0'], history);
    if (opening.fault) return opening.fault;
    let { after } = opening;
    const seen = String((opening.reply as Reply[])[0]).slice(2);
    for (let round = 0; ; round++) {
      const data = this.data(after).clone();
      const others = data.sorted('leases').filter(({ member }) => member !== broom);
      if (others.length === 0 && leftOf(data).length === 0) break;
      if (round === 100) return 'sessions that have died are never taken back';
      for (const { member } of others) data.command(['ZADD', 'leases', '0', member], surroundings(history), []);
      const outcome = this.turn(this.id(data), [broom, '0', CHANNEL, 'B', seen], history);
      if (outcome.fault) return outcome.fault;
      after = outcome.after;
      if (this.fault(after)) return this.fault(after);
    }
    const end = this.data(after);
    if (recordsOf(end).length > 0) return 'a record stays behind';
    if (queueOf(end).length > 0) return 'an entry of the queue stays behind';
    if (heldOf(end).length > 0) return 'permits stay behind';
    for (const key of ['sessions', 'seqs'])
      if ([...end.hash(key).keys()].some((sid) => sid !== broom)) return `something of a session stays in ${key}`;
    for (const field of end.hash('objects').keys()) if (field.includes('\0')) return 'told deaths stay behind';
    return undefined;
  }
}

interface Outcome {
  readonly after: number;
  readonly reply: Reply;
  readonly messages: readonly { readonly sid: string; readonly text: string }[];
  readonly granted: readonly Grant[];
  readonly fault: string | undefined;
}

const idOf = (history: number): string => hex(history, 40);

/** The time and the history that the server knows. Each history is a second later than the one before it. */
const surroundings = (history: number): Surroundings => ({
  time: (1577836800 + history) * 1_000_000,
  history: idOf(history),
});

export interface State {
  readonly clients: readonly Client[];
  readonly server: number;
  readonly history: number;
  readonly copy: number;
  readonly left: Counts;
  /** After a failover: the largest token by object that a process has held, and who held which. */
  readonly tokens: readonly string[];
  readonly fault?: string;
}

export interface Step {
  readonly label: string;
  readonly to: State;
  /** Whether the step may never happen. If a state has only such steps, it counts as an end. */
  readonly optional?: boolean;
}

const NO_BUDGET: Counts = {
  ...{ cuts: 0, losses: 0, timeouts: 0, kills: 0, lapses: 0, reapings: 0, failovers: 0, resends: 0 },
  ...{ returns: 0, changes: 0 },
  ...{ disposals: 0, cancels: 0, revocations: 0, shrinks: 0, growths: 0 },
};

export class Protocol {
  readonly #configuration: Configuration;
  readonly #servers: Servers;

  constructor(configuration: Configuration, server = new Server(turnChunk(configuration.constants))) {
    this.#configuration = configuration;
    this.#servers = new Servers(server);
  }

  first(): State {
    const { objects, clients, budget, rules, cold = false, unmade = false } = this.#configuration;
    const opener = hex(0xa, 16);
    let server = this.#servers.id(new Data());
    const run = (...args: string[]): void => {
      const outcome = this.#servers.turn(server, [opener, '0', CHANNEL, ...args], 1);
      if (outcome.fault) throw new Error(outcome.fault);
      server = outcome.after;
    };
    // The objects were opened before, as a program does that awaits it.
    run('O', '2', '1', LEASE, 'x', '-', '0', ...(unmade ? [] : objects.flatMap(openingOf)));
    // Until nothing is left.
    for (let more = true; more; ) {
      const outcome = this.#servers.turn(server, [opener, '0', CHANNEL, 'X'], 1);
      server = outcome.after;
      more = (outcome.reply as Reply[])[0] === '+';
    }
    const data = this.#servers.data(server);
    const made = clients.map((wants, index) => {
      const expels = (budget.disposals ?? 0) + (budget.cancels ?? 0) + (budget.shrinks ?? 0) > 0;
      const revokes = (budget.revocations ?? 0) > 0;
      const client = new Client(index, objects, wants, { ...RULES, ...rules }, expels, revokes);
      client.opened = objects.map(({ name }) => ({
        in: '',
        born: data.hash('objects').get(name)?.split(' ')[4] ?? '-',
      }));
      return client;
    });
    if (!cold)
      for (const client of made) {
        const sid = `p${hex(client.index + 1, 7)}00000001`;
        const outcome = this.#servers.turn(server, [sid, '0', CHANNEL, 'O', '2', '1', LEASE, 'x', '-', '0'], 1);
        if (outcome.fault) throw new Error(outcome.fault);
        client.open(sid, String((outcome.reply as Reply[])[0]).split(' ')[2] as string);
        server = outcome.after;
      }
    return { clients: made, server, history: 1, copy: -1, left: { ...NO_BUDGET, ...budget }, tokens: [] };
  }

  text(state: State): string {
    const { clients, server, history, copy, left, tokens, fault = '' } = state;
    const numbers = [server, history, copy, ...Object.values(left)].join(' ');
    // A step with a fault may lead where another step leads without one.
    return [numbers, tokens.join(' '), fault, ...clients.map((client) => client.text())].join('\n');
  }

  /** What is wrong with a state: undefined if nothing is. */
  fault(state: State): string | undefined {
    if (state.fault) return state.fault;
    const wrong = this.#servers.fault(state.server) ?? this.#servers.settles(state.server, state.history);
    if (wrong) return wrong;
    const { objects, budget } = this.#configuration;
    const exclusive = this.#hasLostNothing(state) && state.left.reapings === (budget.reapings ?? 0);
    for (const [at, { name, max }] of objects.entries()) {
      let sum = 0;
      const tickets = new Set<string>();
      for (const client of state.clients)
        for (const request of client.requests)
          if (request.state === 'held' && request.want.object === at) {
            sum += request.wanted;
            if (tickets.has(request.ticket)) return `two holds of ${name} with one token`;
            tickets.add(request.ticket);
          }
      // Who is told that its hold was taken away may not have heard it; a resize takes nothing away.
      const { disposals, revocations, growths } = budget;
      if (exclusive && sum > max && !disposals && !revocations && !growths)
        return `${sum} permits of ${name} are held of ${max}`;
    }
    return undefined;
  }

  /** The server has all that it has answered. */
  #hasLostNothing({ left }: State): boolean {
    const { failovers = 0, returns = 0 } = this.#configuration.budget;
    return left.failovers === failovers && left.returns === returns;
  }

  /** What is wrong with an end: somebody waits, or a process is stuck. */
  endFault(state: State): string | undefined {
    for (const client of state.clients) {
      if (!client.alive || client.isDone) continue;
      const [request] = client.requests;
      return request ? `a request is ${request.state} for ever` : 'a process goes on no more';
    }
    const data = this.#servers.data(state.server);
    if (queueOf(data).length > 0) return 'an entry of the queue is left at the end';
    const living = new Map(state.clients.filter(({ alive }) => alive).map((client) => [client.sid, client]));
    for (const { sid, rid } of recordsOf(data)) {
      const client = living.get(sid);
      if (client && !client.requests.some((each) => each.rid === rid)) return 'permits are missing at the end';
    }
    return undefined;
  }

  steps(state: State): Step[] {
    const steps: Step[] = [];
    const { left } = state;
    const add = (
      label: string,
      at: number,
      act: (client: Client, events: Event[]) => void,
      more: Partial<State> = {},
    ) => {
      const clients = [...state.clients];
      const client = (clients[at] as Client).clone();
      clients[at] = client;
      const events: Event[] = [];
      act(client, events);
      steps.push({ label: `${at}: ${label}`, to: this.#told({ ...state, ...more, clients }, events) });
    };
    const spend = (what: keyof Counts): { left: Counts } => ({ left: { ...left, [what]: left[what] - 1 } });
    const data = this.#servers.data(state.server);
    const { sequential = false, closes = false, budget } = this.#configuration;

    for (const [at, client] of state.clients.entries()) {
      // The server runs the next call of the connection, or one of an older connection.
      const call = client.pipe.findIndex(({ reply }) => reply === undefined);
      if (call >= 0) steps.push(this.#run(state, at, call, false));
      if (client.ghosts.length > 0) steps.push({ ...this.#run(state, at, -1, false), optional: true });
      if (!client.alive) continue;
      if (call >= 0 && left.resends > 0 && !['O'].includes(client.pipe[call]?.operations[0]?.args[0] ?? ''))
        steps.push(this.#run(state, at, call, true));
      // An answer or a message arrives.
      if (client.pipe[0]?.reply) add('answer', at, (c, events) => c.answered(events));
      if (client.inbox.length > 0) {
        add('message', at, (c, events) => c.heard(events));
        if (left.losses > 0) add('a message is lost', at, (c) => void c.inbox.shift(), spend('losses'));
      }
      if (client.mayEnter) add('enter', at, (c) => c.enter());
      // Its program goes on.
      const last = client.requests.at(-1);
      if (client.next < client.wants.length && !(sequential && last)) add('ask', at, (c) => c.ask());
      for (const request of client.requests) {
        const { rid } = request;
        if (request.state === 'held' && !request.want.keeps) {
          add(`give back ${rid}`, at, (c) => c.giveBack(rid));
          if (client.nextOf(rid)) steps.push(this.#pass(state, at, rid));
        }
        if (left.timeouts > 0 && (request.state === 'asked' || request.state === 'waiting')) {
          add(`time-out of ${rid}`, at, (c, events) => c.giveUp(rid, true, events), spend('timeouts'));
          add(`abort of ${rid}`, at, (c, events) => c.giveUp(rid, false, events), spend('timeouts'));
        }
        if (left.timeouts > 0 && request.state === 'leaving')
          add(`${rid} waits no longer`, at, (c, events) => c.giveUp(rid, false, events), spend('timeouts'));
      }
      if (client.phase === 'open') {
        const seq = data.hash('seqs').get(client.sid);
        const { dead, seen } = deadOf(data, client.sid);
        const isGap = client.rules.comparesNumbers && Number(seq) !== client.lastSeq;
        const isElsewhere = client.rules.comparesHistories && !client.epoch.endsWith(idOf(state.history));
        // Grants are left, or somebody is dead.
        const isDue = dead || leftOf(data).length > 0;
        const isUseful = isDue || seq === undefined || isGap || isElsewhere;
        const beats = client.pipe.some(({ operations }) => operations[0]?.args[0] === 'B');
        if (isUseful && !beats && (client.requests.length > 0 || isDue || isElsewhere))
          add('beat', at, (c) => c.beat(seen));
        if (closes && client.isDone && client.pipe.length === 0) add('close', at, (c) => c.close());
        const name = this.#configuration.objects[0]?.name as string;
        if (left.disposals > 0) add('dispose', at, (c) => c.operate(['K', name, '-']), spend('disposals'));
        if (left.revocations > 0)
          for (const { sid, rid, ticket } of heldOf(data).filter((each) => each.name === name))
            add(`revoke ${rid}`, at, (c) => c.operate(['F', name, rid, ticket, sid]), spend('revocations'));
        const max = Number(data.hash('objects').get(name)?.split(' ')[1]);
        if (left.shrinks > 0) add('shrink', at, (c) => c.operate(['R', name, '-', `${max - 1}`]), spend('shrinks'));
        if (left.growths > 0) add('grow', at, (c) => c.operate(['R', name, '-', `${max + 1}`]), spend('growths'));
        if (left.cancels > 0) add('cancel all', at, (c) => c.operate(['L', name, '-', '-']), spend('cancels'));
      }
      // What may happen to it.
      if (left.cuts > 0 && (client.phase === 'open' || client.pipe.length > 0)) {
        add('cut', at, (c) => c.cut(false), spend('cuts'));
        if (left.resends > 0 && client.pipe.length > 0)
          add('cut, and resent', at, (c) => c.cut(true), {
            left: { ...left, cuts: left.cuts - 1, resends: left.resends - 1 },
          });
      }
      if (left.kills > 0 && client.phase !== 'closed') add('kill', at, (c) => c.kill(), spend('kills'));
      if (left.lapses > 0 && client.phase === 'open' && client.requests.length > 0)
        add('lapse', at, (c) => c.lapse(), spend('lapses'));
    }

    // The lease of a session ends that is no process's, or of a process that knows that it may.
    for (const { member, score } of data.sorted('leases')) {
      if (score === 0) continue;
      const at = state.clients.findIndex(({ sid, alive }) => alive && sid === member);
      const entering = state.clients.findIndex(
        ({ pipe, alive }) => alive && pipe.some((call) => call.sid === member && call.operations[0]?.args[0] === 'O'),
      );
      const owner = state.clients[at];
      if (owner ? !owner.lapsed && left.reapings === 0 : entering >= 0) continue;
      const copy = data.clone();
      copy.command(['ZADD', 'leases', '0', member], surroundings(state.history), []);
      const spent = owner && !owner.lapsed ? spend('reapings') : {};
      const clients = state.clients.map((client, each) => {
        if (each !== at) return client;
        const marked = client.clone();
        marked.mayLose = true;
        return marked;
      });
      const to = { ...state, ...spent, clients, server: this.#servers.id(copy) };
      steps.push({ label: `the lease of ${member} ends`, to });
    }

    if (left.changes > 0)
      steps.push({ label: 'another history', to: { ...state, ...spend('changes'), history: state.history + 1 } });
    if ((budget.failovers ?? 0) + (budget.returns ?? 0) > 0) {
      if (state.copy < 0 && left.failovers + left.returns > 0)
        steps.push({ label: 'the copy falls behind', to: { ...state, copy: state.server }, optional: true });
      if (state.copy >= 0 && left.returns > 0) {
        const clients = state.clients.map((client) => {
          const copy = client.clone();
          copy.mayLose = true;
          return copy;
        });
        const to = { ...state, ...spend('returns'), clients, server: state.copy, history: state.history + 1 };
        steps.push({ label: 'failover, and connections live', to, optional: true });
      }
      if (state.copy >= 0 && left.failovers > 0) {
        const clients = state.clients.map((client) => {
          const copy = client.clone();
          copy.cut(false);
          copy.ghosts = [];
          copy.mayLose = true;
          return copy;
        });
        const to = { ...state, ...spend('failovers'), clients, server: state.copy, history: state.history + 1 };
        steps.push({ label: 'failover', to, optional: true });
      }
    }
    return steps;
  }

  /** The server runs a call: of the connection, or the first that is left of older ones. again: the answer is lost. */
  #run(state: State, at: number, index: number, again: boolean): Step {
    const clients = [...state.clients];
    const client = (clients[at] as Client).clone();
    clients[at] = client;
    const call = (index >= 0 ? client.pipe[index] : client.ghosts.shift()) as Client['pipe'][number];
    const args = [call.sid, String(call.conn), CHANNEL, ...call.operations.flatMap((operation) => operation.args)];
    const outcome = this.#servers.turn(state.server, args, state.history);
    const reply = Array.isArray(outcome.reply) ? outcome.reply : [outcome.reply];
    if (index >= 0 && !again) client.pipe[index] = { ...call, reply };
    if (index >= 0 && /^[OB] /.test(String(reply[0]))) client.lapsed = false;
    if (this.#configuration.budget.timeouts) {
      for (const [place, { args: [letter] = [], rid }] of call.operations.entries()) {
        const request = client.requests.find((each) => each.rid === rid);
        // The server has no permits for it: it waits, leaves the queue, or is refused.
        if (request && /^[ATC] [QCR]/.test(`${letter} ${reply[place]}`)) request.refusedIn = idOf(state.history);
      }
    }
    for (const message of outcome.messages) {
      const to = clients.findIndex((each) => each.alive && hears(each, message.sid));
      if (to < 0) continue;
      const hearer = to === at ? client : (clients[to] as Client).clone();
      hearer.inbox.push(message);
      clients[to] = hearer;
    }
    let { fault } = outcome;
    if (state.history > 1 && !fault) fault = this.#tokenFault(state, outcome.granted);
    const next: State = {
      ...state,
      clients,
      server: outcome.after,
      left: again ? { ...state.left, resends: state.left.resends - 1 } : state.left,
      ...(fault ? { fault } : {}),
    };
    return {
      label: `${at}: the server runs ${index < 0 ? 'late ' : ''}${args.slice(3).join(' ')}${again ? ', and the answer is lost' : ''}`,
      to: next,
    };
  }

  /** After a failover a grant to somebody who wants it has a larger token than any that was held before. */
  #tokenFault(state: State, granted: readonly Grant[]): string | undefined {
    for (const { name, sid, rid, ticket } of granted) {
      const at = this.#configuration.objects.findIndex((object) => object.name === name);
      if (this.#configuration.objects[at]?.max !== 1) continue;
      const client = state.clients.findIndex((each) => each.alive && each.sid === sid);
      const request = state.clients[client]?.requests.find((each) => each.rid === rid);
      if (request?.state !== 'asked' && request?.state !== 'waiting') continue;
      const [held = '', by] = (state.tokens[at] ?? '').split(',');
      if (ticket < held || (ticket === held && by !== `${client}.${rid}`)) return `a token of ${name} goes back`;
    }
    return undefined;
  }

  /** A mutex is passed on within its process. Everybody in the queue before is overtaken. */
  #pass(state: State, at: number, rid: string): Step {
    const clients = state.clients.map((client) => client.clone());
    const client = clients[at] as Client;
    const base = client.requests.find((each) => each.rid === rid) as Client['requests'][number];
    const { name, bypass = 0 } = this.#configuration.objects[base.want.object] as ObjectSettings;
    const next = client.passOn(rid);
    const queue = queueOf(this.#servers.data(state.server)).filter((entry) => entry.name === name);
    const place = queue.findIndex((entry) => entry.sid === client.sid && entry.rid === next.rid);
    const [held = ''] = (state.tokens[base.want.object] ?? '').split(',');
    // Who has not heard that its lease was taken may pass it on still. In a later history it knows.
    const knows = state.history > 1 && client.phase === 'open';
    let fault = knows && base.ticket < held ? `a token of ${name} goes back as it is passed on` : undefined;
    for (const entry of place < 0 ? queue : queue.slice(0, place)) {
      if (entry.sid === client.sid) continue;
      const waiter = clients.find((each) => each.sid === entry.sid)?.requests.find((each) => each.rid === entry.rid);
      if (waiter && ++waiter.overtaken > bypass && this.#hasLostNothing(state))
        fault = `a waiter is overtaken ${waiter.overtaken} times`;
    }
    return { label: `${at}: pass on ${rid} to ${next.rid}`, to: { ...state, clients, ...(fault ? { fault } : {}) } };
  }

  #told(state: State, events: readonly Event[]): State {
    let { tokens, fault } = state;
    for (const event of events) {
      if ('fault' in event) fault ??= event.fault;
      else if ('expired' in event) {
        if (event.expired.refusedIn < event.history) fault ??= 'a time-out passes, and nobody was asked';
      } else if (this.#configuration.budget.failovers) {
        const { granted } = event;
        const at = granted.want.object;
        const client = state.clients.findIndex(({ requests }) => requests.includes(granted));
        const [held = ''] = (tokens[at] ?? '').split(',');
        if (granted.ticket > held) {
          tokens = this.#configuration.objects.map((_, each) => tokens[each] ?? '');
          tokens = tokens.map((token, each) => (each === at ? `${granted.ticket},${client}.${granted.rid}` : token));
        }
      }
    }
    return { ...state, tokens, ...(fault ? { fault } : {}) };
  }
}

/** Whether somebody else is dead, whose lease has ended; and a ticket since which only the dead have not beaten. */
function deadOf(data: Data, sid: string): { readonly dead: boolean; readonly seen: string } {
  const dead = data.sorted('leases').some(({ member, score }) => score === 0 && member !== sid);
  const meta = data.hash('meta');
  return { dead, seen: dead ? `${hex(0, 14)} ${meta.get('epoch')}.${meta.get('history')}` : '-' };
}

/** Whether a process listens to the channel of a session: its own, or the one that it opens. */
const hears = (client: Client, sid: string): boolean =>
  client.sid === sid || (client.sid === '' && client.pipe.some((call) => call.sid === sid));
