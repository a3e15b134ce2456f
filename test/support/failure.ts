/** Returns what a call throws, or what its promise rejects with. */
export async function failure(call: () => unknown): Promise<Error> {
  try {
    await call();
  } catch (error) {
    return error as Error;
  }
  throw new Error('it did not fail');
}
