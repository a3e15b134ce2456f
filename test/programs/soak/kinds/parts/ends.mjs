/**
 * What Channel and Watch have in common: values go in by one method and come out by another, each with a form that gives
 * a promise, and nobody waits in the end.
 */

/** Values are from 1 to this number. */
export const MOST = 1e6;
export const someValue = (draw) => 1 + draw.upTo(MOST - 1);

/**
 * Makes a kind.
 *
 * - `brings`: the method that brings a value in;
 * - `waits(task, lib, async, options)`: prepares a call of the method that waits for a value. The name of the method ends
 *   with `async`. Returns the name, the call, and a `note` for the check;
 * - `both`: the same, for a call that waits in some other way;
 * - `check(task, object, value, note)`: checks what a call has returned;
 * - `tries(task, object)`: makes calls that do not wait;
 * - `queues`: the queues of the object, as `inspect` names them.
 */
export function kindOf(kind) {
  const { brings, waits, both, check, tries, queues } = kind;
  /** Draws what a task does. Returns undefined if it has been done. */
  const drawn = (task, object, isSync) => {
    const what = task.draw.next();
    if (what < 0.2) {
      task.give('try', object, () => tries(task, object));
      return undefined;
    }
    const request = task.request(object, isSync);
    const lib = task.life.at(object, task.draw);
    const async = isSync ? '' : 'Async';
    if (what < 0.55) {
      const call = () => lib[brings + async](someValue(task.draw), request.options);
      return { name: brings + async, request, call, checks() {} };
    }
    const gets = what < 0.7 ? both : waits;
    const { name, call, note } = gets(task, lib, async, request.options);
    return { name, request, call, checks: (value) => task.life.gone || check(task, object, value, note) };
  };
  return {
    async use(task, object) {
      const todo = drawn(task, object, false);
      if (todo === undefined) return;
      const got = await task.attempt(todo.name, object, todo.request, todo.call);
      if (got !== undefined) todo.checks(got.value);
    },

    useSync(task, object) {
      const todo = drawn(task, object, true);
      if (todo === undefined) return;
      const got = task.attemptSync(todo.name, object, todo.request, todo.call);
      if (got !== undefined) todo.checks(got.value);
    },

    wrong(_context, _object, lib) {
      const stats = lib.inspect();
      const waiting = queues.reduce((sum, queue) => sum + stats[queue].waiting, 0);
      return waiting > 0 ? `nobody is there, and it says ${JSON.stringify(stats)}` : undefined;
    },

    ...kind,
  };
}
