/** A program of one client that takes and gives back locks that nobody else wants. `pairs.ts` starts the program. */
import { now } from './clock.js';
import { SHAPES, type Shape } from './pairs.js';
import { SUBJECTS, type Take } from './subjects.js';

export interface PairOrder {
  readonly shape: string;
  readonly seconds: number;
}

export interface PairReport {
  readonly pairs: number;
  readonly ms: number;
}

const port = Number(process.argv[2]);
const opened = new Map<string, { takes: Take[]; close(): Promise<void> }>();

/** Returns the functions that take for a shape. The first call for a shape connects. */
async function takesOf(name: string, { subject, promises }: Shape): Promise<Take[]> {
  let found = opened.get(name);
  if (!found) {
    const { connect } = SUBJECTS[subject] as (typeof SUBJECTS)[string];
    const settings = { port, key: `pair ${name}`, permits: promises, apart: true, clients: promises, first: 0 };
    const connection = await connect(settings);
    const takes = await Promise.all(Array.from({ length: promises }, (_, i) => connection.client(i)));
    found = { takes, close: () => connection.close() };
    opened.set(name, found);
  }
  return found.takes;
}

async function run({ shape: name, seconds }: PairOrder): Promise<PairReport> {
  const shape = SHAPES[name] as Shape;
  const takes = await takesOf(name, shape);
  const pair = async (take: Take): Promise<void> => {
    const { release } = await take();
    await release();
  };
  const [only] = takes;
  const round = takes.length === 1 ? () => pair(only as Take) : () => Promise.all(takes.map(pair));
  const start = now();
  let rounds = 0;
  let end = start;
  for (; end < start + seconds * 1000; end = now()) {
    await round();
    rounds++;
  }
  return { pairs: rounds * takes.length, ms: end - start };
}

process.on('message', (order: PairOrder | 'close') => {
  if (order !== 'close') {
    run(order).then(
      (report) => process.send?.(report),
      (error: unknown) => process.send?.({ failure: String(error) }),
    );
    return;
  }
  void Promise.all([...opened.values()].map((each) => each.close())).then(() => process.disconnect());
});
