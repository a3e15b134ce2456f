/** How permits and locks are used: taken in one of many forms, noted, and given back. */
import { isTight } from '../../board.mjs';

/** Ends a guard by its own method, by `Symbol.dispose`, or by both. */
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
 * Takes permits or a lock in some form, notes it, and gives it back. The `call` of a form takes, and its `give` gives
 * back. While a request waits without a limit, it has a place on the board, which counts how often it is overtaken.
 */
export async function useBy(task, object, form, what, rules) {
  const { life, board } = task;
  const lib = life.at(object, task.draw);
  const request = form.tries ? {} : task.request(object, false);
  // Some requests have no place. If a form only passes (`passes`), others get in before its caller is told. If the
  // arena may be full, a request may never have stood in line.
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
  const goOn = (how) => {
    const since = life.gone ? undefined : board.goOn(standing);
    if (since !== undefined) life.tellEnd(standing, since, `${form.name} ${how} at ${board.tick()}`);
    standing = undefined;
  };
  if (form.around) {
    const begun = board.tick();
    const thrown = task.draw.chance(0.1) ? new Error('thrown in the section') : undefined;
    const own = thrown ? { ...request, reason: thrown } : request;
    const body = async () => {
      goOn('begins');
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

/** Returns, from the answer of a call, how much the call has taken. Returns undefined if it has taken nothing. */
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
    const what = `a request is overtaken more than ${rules.bound} times`;
    life.suspect({ object: object.index, what, ...overtaken, begun, now: board.tick(), task: task.number });
  }
}

export function leave(task, object, what, rules) {
  if (!task.life.gone) rules.leave(task, object, what);
}
