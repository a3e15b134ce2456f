/** A proxy before PostgreSQL: it sees the statements, and cuts or swallows what a test wants. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Proxy {
  readonly port: number;
  readonly url: string;
  /** How many connections were opened. */
  readonly opened: number;
  /** The statements that came, in their order. */
  readonly statements: string[];
  /** The present connections that have sent such a statement carry nothing any more. Returns how many. */
  swallow(statement: RegExp): number;
  /** Cuts all connections. */
  cut(): void;
  /**
   * The next statement of this kind reaches the server, and its connection is cut when the answer comes: the process
   * does not know whether it was committed.
   */
  cutAnswer(statement: RegExp): void;
  /** Holds the next statement of this kind, and all that follows it on its connection, until the returned function runs. */
  hold(statement: RegExp): () => void;
  /** Later connections lead to the server at this port. */
  lead(port: number): void;
  /** With a number, the server seems to tell this number of the backend as it greets, as a pooler does. */
  backend: number | undefined;
}

export async function proxy(port: number): Promise<Proxy> {
  let leadsTo = port;
  const statements: string[] = [];
  const pairs = new Set<{ sent: string[]; swallows: boolean; sockets: Socket[] }>();
  let opened = 0;
  let toCut: RegExp | undefined;
  let toHold: { readonly statement: RegExp; readonly held: (() => void)[]; isOver: boolean } | undefined;
  const listener = createServer((client) => {
    const server = connect(leadsTo, '127.0.0.1');
    const pair = { sent: [] as string[], swallows: false, sockets: [client, server] };
    pairs.add(pair);
    opened++;
    let isCut = false;
    let holding: NonNullable<typeof toHold> | undefined;
    let hasGreeted = false;
    client.on('data', (data) => {
      // A statement of the simple protocol: Q, its length, its text. The driver sends one at a time.
      if (data[0] === 0x51) {
        const text = data.subarray(5, -1).toString();
        statements.push(text);
        pair.sent.push(text);
        if (toCut?.test(text)) {
          toCut = undefined;
          isCut = true;
        }
        if (toHold?.statement.test(text)) {
          holding = toHold;
          toHold = undefined;
        }
      }
      if (holding && !holding.isOver) holding.held.push(() => server.write(data));
      else if (!pair.swallows) server.write(data);
    });
    server.on('data', (data) => {
      if (isCut) for (const socket of pair.sockets) socket.destroy();
      // K, a length of 12, the number of the backend and its secret.
      const at = hasGreeted || made.backend === undefined ? -1 : data.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]));
      if (at >= 0) {
        hasGreeted = true;
        data.writeUInt32BE(made.backend as number, at + 5);
      }
      if (!pair.swallows && !isCut) client.write(data);
    });
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on('error', () => {});
      from.on('close', () => {
        pairs.delete(pair);
        if (!pair.swallows || from === client) to.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const cut = (): void => {
    for (const { sockets } of pairs) for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    listener.close();
    cut();
  });
  const own = (listener.address() as AddressInfo).port;
  const made: Proxy = {
    port: own,
    url: `postgres://postgres@127.0.0.1:${own}/postgres`,
    get opened() {
      return opened;
    },
    statements,
    swallow(statement) {
      const some = [...pairs].filter(({ sent }) => sent.some((text) => statement.test(text)));
      for (const pair of some) pair.swallows = true;
      return some.length;
    },
    cut,
    cutAnswer(statement) {
      toCut = statement;
    },
    hold(statement) {
      const hold = { statement, held: [] as (() => void)[], isOver: false };
      toHold = hold;
      return () => {
        hold.isOver = true;
        for (const send of hold.held) send();
      };
    },
    lead(to) {
      leadsTo = to;
    },
    backend: undefined,
  };
  return made;
}
