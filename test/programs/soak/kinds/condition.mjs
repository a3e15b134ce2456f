/**
 * Condition: takers wait until there are items. A task that puts an item notifies a taker. So while a taker sleeps,
 * there is no item, unless a notification was lost.
 */
import { Mutex } from 'taketurns';
import { Condition } from 'taketurns/sync';
import { HALF_WRITTEN, INSIDE, ITEMS, NOTIFIED, WOKEN } from '../board.mjs';
import { enterLock, leaveLock, mutex } from './mutex.mjs';

/** Returns whether the thread is the owner, and reports a finding if it is not: after a wait it must be the owner. */
function owns(task, object, error) {
  const { lib, what } = object;
  const { life } = task;
  // If `onOwnerDied` has thrown, the lock has gone back. Another task of this thread may be the owner now.
  if (error === HALF_WRITTEN) return false;
  if (lib.mutex.held) return true;
  if (!life.gone && !life.board.isEnding)
    life.find(`${what}: the wait is over, and the thread is not the owner of the mutex`, error);
  return false;
}

function predicate(task, object) {
  const { life, board } = task;
  return () => {
    if (life.gone) return true;
    if (!object.lib.mutex.held) life.find(`${object.what}: the predicate is asked by a thread that is not the owner`);
    enterLock(task, object);
    life.user.callback(object);
    const is = board.load(object.index, ITEMS) > 0;
    leaveLock(task, object);
    return is;
  };
}

function put(task, object) {
  const { life, board, draw } = task;
  if (life.gone) return;
  const n = 1 + draw.upTo(2);
  board.add(object.index, ITEMS, n);
  task.give('notify', object, () => {
    const notified = draw.chance(0.2) ? object.lib.notifyAll() : object.lib.notify(n);
    board.add(object.index, NOTIFIED, notified);
  });
}

/**
 * Is called by the owner after a wait. Takes an item if there is one, and checks that there is one if there must be.
 */
function took(task, object, isThere) {
  const { life, board } = task;
  if (life.gone) return;
  enterLock(task, object);
  const items = board.load(object.index, ITEMS);
  if (isThere && items < 1) life.find(`${object.what}: waitFor has answered true, and there is no item`);
  if (isThere) board.add(object.index, ITEMS, -1);
}

/** Returns the mutex of a condition as an object for the kind `mutex`. It has no name. */
const mutexOf = (object) => ({ ...object, lib: object.lib.mutex, kind: mutex, name: undefined });

const condition = {
  isLock: true,
  tells: () => true,
  telling: (lib) => lib.mutex,
  shape: mutex.shape,
  make({ name, bypass }, arena) {
    const mutex = new Mutex({ bypass, arena });
    return name ? Condition.open(name, mutex) : new Condition(mutex);
  },
  from: (handle) => Condition.from(handle),

  async use(task, object) {
    const { life, draw } = task;
    const { lib } = object;
    if (task.depth > 0 || draw.chance(0.2)) return mutex.use(task, mutexOf(object));
    if (object.cancels && draw.chance(0.03)) life.user.cancelAll(object, lib.mutex);
    if (draw.chance(0.05)) task.give('notify', object, () => task.board.add(object.index, NOTIFIED, lib.notify()));
    const request = task.request(object, false);
    const isTaker = draw.chance(0.5);
    const got = await task.attempt('holdAsync', object, isTaker ? {} : request, () =>
      lib.mutex.holdAsync(isTaker ? undefined : request.options),
    );
    if (got === undefined) return undefined;
    const guard = got.value;
    let isOwner = true;
    if (!isTaker) {
      enterLock(task, object);
      put(task, object);
      await task.inside(mutexOf(object));
    } else {
      const form = draw.upTo(3);
      let isThere = false;
      let thrown;
      const isNow = form === 0 && task.board.load(object.index, ITEMS) > 0;
      const call = isNow
        ? () => true
        : form === 0
          ? () => lib.waitAsync(request.options)
          : () => lib.waitForAsync(predicate(task, object), request.options);
      const waited = await task.attempt(form === 0 ? 'waitAsync' : 'waitForAsync', object, request, async () => {
        try {
          return await call();
        } catch (error) {
          thrown = error;
          throw error;
        }
      });
      isOwner = owns(task, object, thrown);
      if (isOwner) {
        if (waited?.value && form === 0 && !isNow && !life.gone) task.board.add(object.index, WOKEN, 1);
        isThere =
          form === 0 ? Boolean(waited?.value) && task.board.load(object.index, ITEMS) > 0 : waited?.value === true;
        took(task, object, isThere);
      }
    }
    if (!isOwner) return undefined;
    if (!life.gone) leaveLock(task, object);
    task.give('unlock', object, () => guard.unlock());
    return undefined;
  },

  useSync(task, object) {
    const { life, draw } = task;
    const { lib } = object;
    // At its end a wait locks the mutex again, however long that takes. So no task of this thread may hold anything.
    if (task.depth > 0 || life.running > 0 || life.user.depth > 0 || life.number === 0 || draw.chance(0.2)) {
      mutex.useSync(task, mutexOf(object));
      return;
    }
    if (object.cancels && draw.chance(0.03)) life.user.cancelAll(object, lib.mutex);
    const request = task.request(object, true);
    const { interrupt } = request;
    request.interrupt = undefined;
    const got = task.attemptSync('hold', object, request, () => lib.mutex.hold(request.options));
    if (got === undefined) return;
    const guard = got.value;
    if (draw.chance(0.5)) {
      enterLock(task, object);
      put(task, object);
      task.insideSync(mutexOf(object));
    } else {
      const form = draw.upTo(3);
      if (form === 0) request.interrupt = interrupt;
      let thrown;
      // A taker that waits without a predicate first looks whether there is an item.
      const isNow = form === 0 && task.board.load(object.index, ITEMS) > 0;
      const call = isNow
        ? () => true
        : form === 0
          ? () => lib.wait(request.options)
          : () => lib.waitFor(predicate(task, object), request.options);
      const waited = task.attemptSync(form === 0 ? 'wait' : 'waitFor', object, request, () => {
        try {
          return call();
        } catch (error) {
          thrown = error;
          throw error;
        }
      });
      // After an interrupt the thread may be the owner or not.
      if (life.pause ? !lib.mutex.held : !owns(task, object, thrown)) return;
      if (waited?.value && form === 0 && !isNow && !life.gone) task.board.add(object.index, WOKEN, 1);
      took(
        task,
        object,
        form === 0 ? Boolean(waited?.value) && task.board.load(object.index, ITEMS) > 0 : waited?.value === true,
      );
    }
    if (!life.gone) leaveLock(task, object);
    task.give('unlock', object, () => guard.unlock());
  },

  /** Notifies all, because the dead owner may have put an item without a notification, or have been notified itself. */
  repair({ board }, { index, lib }, found) {
    board.store(index, INSIDE, 0);
    const notified = (found ?? lib).notifyAll();
    board.add(index, NOTIFIED, notified);
  },

  letGo({ index }, lib, _, board) {
    if (lib.mutex.held) lib.mutex.unlock();
    // The wait that was interrupted may have used up a notification.
    board.add(index, NOTIFIED, lib.notify());
  },

  /** Puts an item if a taker waits and there is no item. */
  feed({ board, life }, object, lib) {
    if (lib.waiting === 0 || board.load(object.index, ITEMS) > 0) {
      // Only the next owner learns of the death of an owner, and perhaps no thread comes. So this thread locks the
      // mutex.
      try {
        if (lib.mutex.tryLock()) lib.mutex.unlock();
      } catch (error) {
        if (error !== HALF_WRITTEN) throw error;
      }
      return;
    }
    try {
      if (!lib.mutex.tryLock()) return;
    } catch (error) {
      if (error !== HALF_WRITTEN) throw error;
      return;
    }
    if (lib.waiting > 0 && board.load(object.index, ITEMS) === 0) {
      board.add(object.index, ITEMS, 1);
      board.add(object.index, NOTIFIED, lib.notify());
    }
    lib.mutex.unlock();
    life.board.tick();
  },

  disposeOf(lib) {
    lib.dispose();
    lib.mutex.dispose();
  },

  wrong(context, object, lib) {
    const { waiting, waiters } = lib.inspect();
    if (waiting || waiters.length || lib.waiting)
      return `nobody is there, and it says ${JSON.stringify(lib.inspect())}`;
    const [woken, notified] = [context.board.load(object.index, WOKEN), context.board.load(object.index, NOTIFIED)];
    if (woken > notified + context.deaths)
      return `${woken} waits were notified, and ${notified} notifications were sent`;
    return mutex.wrong(context, object, lib.mutex);
  },
};

export const kinds = { condition };
