/** The checks that a case makes. A case fails by throwing. */

export function ok(value: unknown, what: string): asserts value {
  if (!value) throw new Error(`not so: ${what}`);
}

const show = (value: unknown): string =>
  JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}n` : part)) ?? String(value);

/** Compares plain values by their JSON. */
export function equal(actual: unknown, expected: unknown, what: string): void {
  if (show(actual) !== show(expected)) throw new Error(`${what}: ${show(actual)} instead of ${show(expected)}`);
}

/** The error must be of this name, and its message must hold this part. */
export function isError(error: unknown, name: string, part = ''): void {
  const { name: given, message } = error as Error;
  if (given !== name || !String(message).includes(part))
    throw new Error(`${given} (${message}) instead of a ${name}${part && ` with "${part}"`}`);
}

export function throws(run: () => unknown, name: string, part?: string): void {
  let value: unknown;
  try {
    value = run();
  } catch (error) {
    isError(error, name, part);
    return;
  }
  throw new Error(`${show(value)} instead of a ${name}`);
}

export async function rejects(promise: Promise<unknown>, name: string, part?: string): Promise<void> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    isError(error, name, part);
    return;
  }
  throw new Error(`${show(value)} instead of a ${name}`);
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const PATIENCE = 20_000;

/** Waits until a condition holds. The length of the wait does not matter, unless the condition never holds. */
export async function until(what: string, isSo: () => boolean): Promise<void> {
  const end = Date.now() + PATIENCE;
  while (!isSo()) {
    if (Date.now() > end) throw new Error(`not so after ${PATIENCE} ms: ${what}`);
    await sleep(1);
  }
}

/** Resolves at once to whether the promise has been settled by now. */
export async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const not = {};
  return (await Promise.race([promise.then(ignore, ignore), sleep(0).then(() => not)])) !== not;
}

function ignore(): void {}
