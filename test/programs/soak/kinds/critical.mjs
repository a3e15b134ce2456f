/** How permits and locks are used: taken in one of many forms, noted, and given back. */
import { isTight } from '../board.mjs';

/** Ends a guard in one of its ways: at once, twice, or with a look before. */
export function endGuard(task, object, guard, end) {
  const how = task.draw.upTo(4);
  task.give('guard', object, () => {
    if (how === 0) end(guard);
    else if (how === 1) guard[Symbol.dispose]();
    else {
      end(guard);
      guard[Symbol.dispose]();
      guard.toString();
    }
    if (guard.held) task.life.find(`a guard of ${object.what} holds when it has given back`);
  });
}

/**
 * Takes what a form takes, notes it, and gives it back. A form has a `call` that takes, for some permits and options, and
 * `give`. Without options, as long as it waits, its request has a place among those that are not overtaken.
 */
export async function useBy(task, object, form, what, rules) {
  const { life, board } = task;
  const lib = life.at(object, task.draw);
  const request = form.tries ? {} : task.request(object, false);
  // One that only passes has let others in before it is told. One that finds the arena full has never stood in line.
  const stands = request.isPatient && rules.bound !== undefined && !form.passes && !isTight(task.plan);
  let standing;
  const ask = (call) => {
    const { refusals } = life.user;
    const asks = board.asks(object.index);
    const asked = call();
    if (stands && !life.gone && refusals === life.user.refusals)
      standing = board.stand(object.index, life.number, asks);
    return asked;
  };
  const goOn = () => {
    if (!life.gone) board.goOn(standing);
    standing = undefined;
  };
  if (form.around) {
    const begun = board.tick();
    const thrown = task.draw.chance(0.1) ? new Error('thrown in the section') : undefined;
    const own = thrown ? { ...request, reason: thrown } : request;
    const body = async () => {
      goOn();
      enter(task, object, what, rules, begun);
      await task.inside(object);
      leave(task, object, what, rules);
      if (thrown) throw thrown;
      return 1;
    };
    const isEither = (error) => error === thrown || (request.reason !== undefined && error === request.reason);
    await task.attempt(
      form.name,
      object,
      own,
      () =>
        ask(() => form.around(lib, what, request.options, body)).catch((error) => {
          throw thrown && isEither(error) ? thrown : error;
        }),
      goOn,
    );
    rules.over?.(task, object, what);
    return;
  }
  const begun = board.tick();
  const call = () => form.call(lib, what, request.options);
  const got = await task.attempt(form.name, object, request, () => ask(call), goOn);
  const taken = takenBy(task, object, form, what, rules, got);
  if (taken === undefined) return;
  enter(task, object, taken, rules, begun);
  const rest = (await form.inside?.(task, object, lib, got.value, taken)) ?? undefined;
  if (!form.inside) await task.inside(object);
  if (!form.inside) leave(task, object, taken, rules);
  form.give(task, object, lib, got.value, rest ?? taken);
  rules.over?.(task, object, what);
}

export function useBySync(task, object, form, what, rules) {
  const { life, board } = task;
  const lib = life.at(object, task.draw);
  const request = form.tries ? { isSync: true } : task.request(object, true);
  const begun = board.tick();
  const got = task.attemptSync(form.name, object, request, () => form.call(lib, what, request.options));
  if (got === undefined && life.haunted) return;
  const taken = takenBy(task, object, form, what, rules, got);
  if (taken === undefined) return;
  enter(task, object, taken, rules, begun);
  const rest = form.insideSync?.(task, object, lib, got.value, taken);
  if (!form.insideSync) task.insideSync(object);
  if (!form.insideSync) leave(task, object, taken, rules);
  form.give(task, object, lib, got.value, rest ?? taken);
  rules.over?.(task, object, what);
}

/** Returns what a call has taken that has answered so, if anything. */
function takenBy(task, object, form, what, rules, got) {
  const isRefused = got !== undefined && form.tries && !got.value;
  if (isRefused) task.board.count('refused');
  if (got === undefined || isRefused) rules.over?.(task, object, what);
  else if (!form.passes) return form.takes?.(got.value) ?? what;
  return undefined;
}

export function enter(task, object, what, rules, begun) {
  const { life, board } = task;
  if (life.gone) return;
  board.count('admitted');
  rules.enter(task, object, what);
  if (rules.bound === undefined || !rules.excludes(object, what)) return;
  for (const overtaken of board.overtakes(object.index, begun, rules.bound)) {
    life.suspect({ object: object.index, what: `a request is overtaken more than ${rules.bound} times`, ...overtaken });
  }
}

export function leave(task, object, what, rules) {
  if (!task.life.gone) rules.leave(task, object, what);
}
