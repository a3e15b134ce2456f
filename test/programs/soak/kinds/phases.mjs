/** The classes whose callers wait for the end of a phase: Barrier, Latch, WaitGroup, Event, Once. */
import { Barrier, Event, Latch, Once, WaitGroup } from 'taketurns/sync';
import { ASKED, DONE, HELD, INSIDE, RETURNS, ROUNDS } from '../board.mjs';

/** Milliseconds after which an event is pulsed again. */
const PATIENCE = 3000;

/** Waits by `wait` or `waitAsync`, and notes that a wait has returned. */
async function wait(task, object) {
  const request = task.request(object, false);
  const lib = task.life.at(object, task.draw);
  const got = await task.attempt('waitAsync', object, request, () => lib.waitAsync(request.options));
  if (!task.life.gone) task.board.add(object.index, RETURNS, 1);
  if (got?.value === false && request.timeout === undefined)
    task.life.find(`${object.what}: a wait without a limit has answered false`);
}

function waitSync(task, object) {
  const request = task.request(object, true);
  const lib = task.life.at(object, task.draw);
  const got = task.attemptSync('wait', object, request, () => lib.wait(request.options));
  if (!task.life.gone) task.board.add(object.index, RETURNS, 1);
  if (got?.value === false && request.timeout === undefined)
    task.life.find(`${object.what}: a wait without a limit has answered false`);
}

function wrong(_, _object, lib) {
  const { waiters } = lib.inspect();
  if (waiters.length || lib.waiting) return `nobody is there, and it says ${JSON.stringify(lib.inspect())}`;
  return undefined;
}

/** Returns how to make and call objects that any thread may dispose of. `count` is what the class begins with. */
const mortal = (Class, calls, ...count) => ({
  make: (name, arena) => (name ? Class.open(name, ...count, { arena }) : new Class(...count, { arena })),
  calls,
});

const named = (Class, options = () => ({})) => ({
  make: (o, arena) => (o.name ? Class.open(o.name, { ...options(o), arena }) : new Class({ ...options(o), arena })),
  open: (o, arena) => Class.open(o.name, { ...options(o), arena }),
  from: (handle) => Class.from(handle),
  wrong,
});

const event = {
  ...named(Event),
  mortal: mortal(Event, (lib, within) => [
    () => lib.set(),
    () => lib.reset(),
    () => lib.wait(within),
    () => lib.waitAsync(within),
  ]),
  async use(task, object) {
    const { draw } = task;
    const what = draw.next();
    if (what < 0.15) task.give('set', object, () => object.lib.set());
    else if (what < 0.3) task.give('reset', object, () => object.lib.reset());
    else if (what < 0.4) pulse(task, object);
    else await wait(task, object);
  },
  useSync(task, object) {
    const what = task.draw.next();
    if (what < 0.3) pulse(task, object);
    else waitSync(task, object);
  },
  look: (lib) => lib.isSet,
  /**
   * Pulses the event, if somebody waits. All who wait at a pulse go on, so the next pulse comes when all of them have
   * gone on. But some may have given up during the pulse, and they are not counted. So after a while there is another
   * pulse.
   */
  feed({ board }, object, lib) {
    if (lib.isSet || lib.waiting === 0) return;
    const returns = board.load(object.index, RETURNS);
    if (object.target !== undefined && returns < object.target && Date.now() < object.patience) return;
    object.target = returns + lib.waiting;
    object.patience = Date.now() + PATIENCE;
    lib.set();
    lib.reset();
  },
};

function pulse(task, object) {
  task.give('set', object, () => {
    object.lib.set();
    object.lib.reset();
  });
}

const latch = {
  shape: (draw) => ({ count: 3 + draw.upTo(20) }),
  mortal: {
    ...mortal(Latch, (lib, within) => [() => lib.wait(within), () => lib.waitAsync(within), () => lib.countDown()], 2),
    mayThrow: (error) => error instanceof RangeError,
  },
  make: (o, arena) => (o.name ? Latch.open(o.name, o.count, { arena }) : new Latch(o.count, { arena })),
  open: (o, arena) => Latch.open(o.name, o.count, { arena }),
  from: (handle) => Latch.from(handle),
  wrong,
  async use(task, object) {
    if (task.draw.chance(0.3)) countDown(task, object);
    else await wait(task, object);
  },
  useSync(task, object) {
    if (task.draw.chance(0.3)) countDown(task, object);
    else waitSync(task, object);
  },
  look: (lib) => lib.count,
  feed({ board }, _object, lib) {
    const { count } = lib;
    if (count === 0 || !board.hasStopped) return;
    try {
      lib.countDown(count);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  },
};

function countDown({ life }, { lib, what }) {
  const { count } = lib;
  try {
    lib.countDown();
    if (count === 0 && !lib.disposed && !life.gone) life.find(`${what}: it has counted down from 0`);
  } catch (error) {
    if (!(error instanceof RangeError) && !life.mayBeOver(error)) life.find(`${what}: countDown has thrown`, error);
  }
}

const waitGroup = {
  ...named(WaitGroup),
  shape: (draw) => ({ adds: draw.chance(0.4) }),
  mortal: mortal(WaitGroup, (lib, within) => [
    () => lib.wait(within),
    () => lib.waitAsync(within),
    () => lib.run(() => 1),
  ]),
  async use(task, object) {
    const { life, board, draw } = task;
    const { lib, index } = object;
    if (!draw.chance(0.6)) return wait(task, object);
    if (object.adds && draw.chance(0.5)) {
      const n = 1 + draw.upTo(3);
      if (!life.gone) board.note(life.number, index, ASKED, n);
      task.give('add', object, () => lib.add(n));
      if (!life.gone) board.note(life.number, index, HELD, n);
      await task.inside(object);
      if (!life.gone) board.note(life.number, index, HELD, -n);
      task.give('done', object, () => (life.gone ? undefined : lib.done(n)));
      if (!life.gone) board.note(life.number, index, ASKED, -n);
    } else if (draw.chance(0.5)) {
      let held;
      task.give('hold', object, () => {
        held = lib.hold();
      });
      await task.inside(object);
      task.give('done', object, () => {
        held?.done();
        held?.[Symbol.dispose]();
      });
    } else {
      await task.attempt('run', object, {}, () => lib.run(() => task.inside(object)));
    }
    return undefined;
  },
  useSync(task, object) {
    if (!task.draw.chance(0.3)) return waitSync(task, object);
    let held;
    task.give('hold', object, () => {
      held = object.lib.hold();
    });
    task.insideSync(object);
    task.give('done', object, () => held?.done());
    return undefined;
  },
  look: (lib) => [lib.pending, lib.deaths],
  /**
   * Takes off the tasks that a thread has added and that it can take off no more. Returns how many more there may be.
   */
  ended(board, { index }, lib, life) {
    const held = board.noted(life, index, HELD);
    if (held > 0) lib.done(held);
    return Math.max(board.noted(life, index, ASKED) - held, 0);
  },
  mend(lib, unsure, noted) {
    const { pending, holders } = lib.inspect();
    const held = holders.reduce((sum, { tasks }) => sum + tasks, noted);
    const lost = Math.min(unsure, pending - held);
    if (lost > 0) lib.done(lost);
  },
  wrong(context, object, lib) {
    const { pending, holders } = lib.inspect();
    if (pending > context.unsure || holders.length)
      return `all tasks are done, and it says ${JSON.stringify(lib.inspect())}`;
    return wrong(context, object, lib);
  },
};

/** Tasks meet at a barrier, as many as make a round. A task that gives up breaks the barrier, so few tasks do. */
const barrier = {
  shape: (draw) => ({ parties: 2 + draw.upTo(4) }),
  mortal: mortal(Barrier, (lib, within) => [() => lib.arriveAndWait(within), () => lib.arriveAndWaitAsync(within)], 2),
  make: (o, arena) => (o.name ? Barrier.open(o.name, o.parties, { arena }) : new Barrier(o.parties, { arena })),
  open: (o, arena, life) => Barrier.open(o.name, o.parties, { arena, ...action(o, life) }),
  from: (handle, o, life) => Barrier.from(handle, action(o, life)),
  /** Checks that each round was complete for all of its calls or broken for all. */
  wrong(context, object, lib) {
    const { index, parties } = object;
    const arrivals = Array.from({ length: parties }, (_, i) => context.board.load(index, ROUNDS + i));
    const lost = Math.max(...arrivals) - Math.min(...arrivals);
    if (context.notesAll && lost > 0) return `so many have come as the first, the second and so on: ${arrivals}`;
    return wrong(context, object, lib);
  },
  async use(task, object) {
    const request = arrival(task, object, false);
    if (request === undefined) return;
    const got = await task.attempt('arriveAndWaitAsync', object, request, () =>
      object.lib.arriveAndWaitAsync(request.options),
    );
    answered(task, object, got);
  },
  useSync(task, object) {
    const request = arrival(task, object, true);
    if (request === undefined) return;
    const got = task.attemptSync('arriveAndWait', object, request, () => object.lib.arriveAndWait(request.options));
    answered(task, object, got);
    if (task.draw.chance(0.1)) object.lib.leave();
  },
  look: (lib) => [lib.broken, lib.round, lib.parties],
  /** Lets the main thread arrive, if somebody waits. It may be the first of a new round, so it arrives by a promise. */
  feed({ board, life }, object, lib) {
    if (lib.broken || lib.waiting === 0 || board.isEnding) return;
    life.user.loosely(
      lib.arriveAndWaitAsync().then(
        (value) => answered({ life }, object, { value }),
        () => {},
      ),
    );
  },
  /** The thread arrives no more. */
  leaves: (lib) => lib.leave(),
};

function arrival(task, object, isSync) {
  const mayGiveUp = task.draw.chance(0.03);
  if (!mayGiveUp && !task.mayWait(object, isSync)) return undefined;
  return mayGiveUp ? task.request(object, isSync) : { isSync, isPatient: true };
}

function action(object, life) {
  return life.draw.chance(0.5) ? { action: () => life.user.callback(object) } : {};
}

function answered({ life }, object, got) {
  if (got === undefined) return;
  if (got.value >= 0 && got.value < object.parties) life.board.add(object.index, ROUNDS + got.value, 1);
  else life.find(`${object.what}: it has answered ${got.value}`);
}

class Failed extends Error {}

/** One task at a time runs the function of a Once, and only one runs it to its end. */
const once = {
  ...named(Once),
  mortal: mortal(Once, (lib, within) => [() => lib.run(() => {}, within), () => lib.runAsync(() => {}, within)]),
  async use(task, object) {
    const request = task.request(object, false);
    const fails = task.draw.chance(0.5) ? new Failed('the function fails') : undefined;
    await task.attempt('runAsync', object, request, async () => {
      try {
        const ran = await object.lib.runAsync(async () => {
          begin(task, object);
          task.life.user.callback(object);
          await task.inside(object);
          over(task, object, fails);
        }, request.options);
        done(task, object);
        return ran;
      } catch (error) {
        if (error !== fails || fails === undefined) throw error;
        return undefined;
      }
    });
  },
  useSync(task, object) {
    const request = task.request(object, true);
    request.interrupt = undefined;
    const fails = task.draw.chance(0.5) ? new Failed('the function fails') : undefined;
    task.attemptSync('run', object, request, () => {
      try {
        const ran = object.lib.run(() => {
          begin(task, object);
          task.life.user.callback(object);
          task.insideSync(object);
          over(task, object, fails);
        }, request.options);
        done(task, object);
        return ran;
      } catch (error) {
        if (error !== fails || fails === undefined) throw error;
        return undefined;
      }
    });
  },
  look: (lib) => lib.done,
};

function begin({ life, board, id }, object) {
  if (life.gone) return;
  const before = board.load(object.index, INSIDE);
  if (board.change(object.index, INSIDE, before, id) !== before || before !== 0)
    life.suspect({
      object: object.index,
      what: `${object.what}: life ${life.number} runs it, and so does ${before}`,
      runner: before,
    });
  board.store(object.index, INSIDE, id);
  if (board.load(object.index, DONE) > 0 && object.lib.inspect().deaths === 0)
    life.find(`${object.what}: it runs again, and it has been done`);
}

function over({ life, board, id }, object, fails) {
  if (life.gone) return;
  board.change(object.index, INSIDE, id, 0);
  if (fails !== undefined) throw fails;
  board.add(object.index, DONE, 1);
}

function done({ life, board }, object) {
  if (!life.gone && board.load(object.index, DONE) === 0)
    life.find(`${object.what}: run has returned, and nobody has done it`);
}

export const kinds = { barrier, latch, 'wait-group': waitGroup, event, once };
