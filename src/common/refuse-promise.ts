/** Throws if the result of a function is a promise: the work of the function must be done when it returns. */
export function refusePromise(result: unknown, message: string): void {
  if (typeof (result as PromiseLike<unknown> | undefined)?.then !== 'function') return;
  Promise.resolve(result).catch(() => {});
  throw new TypeError(message);
}
