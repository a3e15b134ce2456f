/** Watch: a value is one that was set, no version is older than the one before it, and nobody waits in the end. */
import { number, Watch } from 'taketurns/channel';

/** Values are from 0 to this number. */
const MOST = 1e6;

const options = (arena) => ({ codec: number, arena });

function check(task, object, read, since) {
  if (read === undefined || task.life.gone) return;
  const { value, version } = read;
  if (!(value >= 0 && value <= MOST)) task.life.find(`${object.what}: value ${value} was not set`);
  if (since !== undefined && version <= since)
    task.life.find(`${object.what}: version ${version} is not newer than ${since}`);
}

function tries(task, object) {
  const { draw } = task;
  task.give('read', object, () => {
    const before = object.lib.version;
    check(task, object, object.lib.read(), before - 1);
    if (draw.chance(0.2)) String(object.lib);
  });
}

const watch = {
  mortal: {
    make: (name, arena) => (name ? Watch.open(name, 0, options(arena)) : new Watch(0, options(arena))),
    calls: (lib, within) => [
      () => lib.set(1, within),
      () => lib.setAsync(1, within),
      () => lib.changed(lib.version, within),
      () => lib.changedAsync(lib.version, within),
      () => lib.get(),
    ],
  },
  make: (o, arena) => (o.name ? Watch.open(o.name, 0, options(arena)) : new Watch(0, options(arena))),
  open: (o, arena) => Watch.open(o.name, 0, options(arena)),
  from: (handle) => Watch.from(handle, number),

  async use(task, object) {
    const { draw } = task;
    const what = draw.next();
    if (what < 0.2) return tries(task, object);
    const request = task.request(object, false);
    const lib = task.life.at(object, draw);
    if (what < 0.6)
      await task.attempt('setAsync', object, request, () => lib.setAsync(draw.upTo(MOST), request.options));
    else {
      let since;
      const got = await task.attempt('changedAsync', object, request, () => {
        since = lib.version;
        return lib.changedAsync(since, request.options);
      });
      check(task, object, got?.value, since);
    }
  },

  useSync(task, object) {
    const { draw } = task;
    const what = draw.next();
    if (what < 0.2) return tries(task, object);
    const request = task.request(object, true);
    const lib = task.life.at(object, draw);
    if (what < 0.6) task.attemptSync('set', object, request, () => lib.set(draw.upTo(MOST), request.options));
    else {
      let since;
      const got = task.attemptSync('changed', object, request, () => {
        since = lib.version;
        return lib.changed(since, request.options);
      });
      check(task, object, got?.value, since);
    }
  },

  look: (lib) => [lib.version, lib.closed, lib.bytes],

  /** Sets the value if somebody waits for a newer one. */
  feed(_program, _object, lib) {
    if (lib.inspect().watchers.waiting > 0) lib.set(0);
  },

  wrong(_context, _object, lib) {
    const { writers, watchers } = lib.inspect();
    if (writers.waiting + watchers.waiting > 0) return `nobody is there, and it says ${JSON.stringify(lib.inspect())}`;
    return undefined;
  },
};

export const kinds = { watch };
