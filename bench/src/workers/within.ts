// A deadline for a promise, in the process of a benchmark and in the pages of the lab.

/** Rejects with the complaint if the promise is still pending after `ms` milliseconds. */
export async function within<T>(promise: Promise<T>, ms: number, complaint: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${complaint} within ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
