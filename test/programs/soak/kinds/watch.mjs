/** Watch: a value is one that was set, no version is older than the one before it, and nobody waits in the end. */
import { changing, number, select, selectAsync, Watch } from 'taketurns/channel';
import { kindOf, MOST } from './parts/ends.mjs';

const options = (arena) => ({ codec: number, arena });
const selects = { select, selectAsync };

/** A wait for a value that is newer than the newest one. `note` learns since which version. */
function newer(name, lib, call) {
  const note = { since: undefined };
  return {
    name,
    note,
    call() {
      note.since = lib.version;
      return call(note.since);
    },
  };
}

function check(task, { what }, { value, version }, { since }) {
  if (!(value >= 0 && value <= MOST)) task.life.find(`${what}: value ${value} was not set`);
  if (version <= since) task.life.find(`${what}: version ${version} is not newer than ${since}`);
}

const watch = kindOf({
  brings: 'set',
  queues: ['writers', 'watchers'],
  check,

  waits(_, lib, async, within) {
    const name = `changed${async}`;
    return newer(name, lib, (since) => lib[name](since, within));
  },

  /** A select that has one case. */
  both(_, lib, async, within) {
    const name = `select${async}`;
    const read = ({ value }) => value;
    return newer(name, lib, (since) => {
      const done = selects[name]([changing(lib, since)], within);
      return async === '' ? read(done) : done.then(read);
    });
  },

  tries(task, object) {
    const before = object.lib.version;
    if (!task.life.gone) check(task, object, object.lib.read(), { since: before - 1 });
    if (task.draw.chance(0.2)) String(object.lib);
  },

  mortal: {
    make: (name, arena) => (name ? Watch.open(name, 0, options(arena)) : new Watch(0, options(arena))),
    calls: (lib, within) => [
      () => lib.set(1, within),
      () => lib.setAsync(1, within),
      () => lib.changed(lib.version, within),
      () => lib.changedAsync(lib.version, within),
      () => selectAsync([changing(lib)], within),
      () => lib.get(),
    ],
  },
  make: (o, arena) => (o.name ? Watch.open(o.name, 0, options(arena)) : new Watch(0, options(arena))),
  open: (o, arena) => Watch.open(o.name, 0, options(arena)),
  from: (handle) => Watch.from(handle, number),
  look: (lib) => [lib.version, lib.closed, lib.bytes],

  /** Sets the value if somebody waits for a newer one. A `setAsync` of this thread may wait for the turn already. */
  feed(_program, _object, lib) {
    if (lib.inspect().watchers.waiting > 0) lib.setAsync(0).catch(() => {});
  },
});

export const kinds = { watch };
