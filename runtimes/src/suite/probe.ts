/** Tries whether a worker can fulfil a promise of the page. The outcome depends on the headers of the page. */
export interface ProbePage {
  outcome: Promise<string>;
}

const without = new URL(location.href).searchParams.get('without') ?? '';
if (without === 'waitAsync') delete (Atomics as { waitAsync?: unknown }).waitAsync;

async function share(): Promise<string> {
  try {
    const { Semaphore } = await import('taketurns');
    const semaphore = new Semaphore(0);
    const { Member } = await import('./team.js');
    const member = await new Member('web', without).join();
    const acquired = semaphore.acquireAsync();
    // Waits past the turn of the event loop in which this thread begins to sleep on its doorbell.
    await member.call('join', null).catch(() => {});
    await member.call('release', semaphore.handle, 1);
    await acquired;
    return 'shared';
  } catch (error) {
    const { name, message } = error as Error;
    return `${name}: ${message}`;
  }
}

(globalThis as unknown as ProbePage).outcome = share();
