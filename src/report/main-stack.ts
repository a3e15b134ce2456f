/**
 * The stack of the main thread, though it blocks. A worker can pause the main thread as a debugger does. V8 does this
 * also where the thread sleeps in an atomic wait: the thread wakes, tells its stack, and sleeps on. Its wait for a lock
 * does not end by this, and its record says all the while that it sleeps.
 *
 * Only Node has the function, and only for the main thread: the messages to another worker go by way of the main thread.
 * The pause stops the main thread for a moment, and V8 runs its code more slowly until the debugger has left. So the
 * stack is taken only when somebody asks for it.
 */
import type * as inspector from 'node:inspector';
import { createRequire } from 'node:module';

/** A thread that runs no code does not pause. A busy machine may delay the pause for as long. */
const PATIENCE = 500;

/** What is needed of the messages `Debugger.scriptParsed` and `Debugger.paused`. */
interface Parsed {
  readonly params: { readonly scriptId: string; readonly url: string };
}
interface Paused {
  readonly params: {
    readonly callFrames: readonly {
      readonly functionName: string;
      readonly location: { readonly scriptId: string; readonly lineNumber: number; readonly columnNumber?: number };
    }[];
  };
}

/** Returns the lines of the stack, the innermost call first. A line in parentheses says why there is none. */
export async function mainStack(): Promise<string[]> {
  try {
    // Node may have been built without it.
    const { Session } = createRequire(import.meta.url)('node:inspector') as typeof inspector;
    return await stackBy(new Session());
  } catch (error) {
    return [`(this runtime does not tell the stack of the main thread: ${(error as Error).message})`];
  }
}

function stackBy(session: inspector.Session): Promise<string[]> {
  return new Promise((resolve) => {
    session.connectToMainThread();
    const end = (lines: string[]): void => {
      clearTimeout(timer);
      session.post('Debugger.disable');
      session.disconnect();
      resolve(lines);
    };
    const timer = setTimeout(
      () => end([`(the main thread has run no code for ${PATIENCE} ms: it waits for events, or the machine is busy)`]),
      PATIENCE,
    );
    const urls = new Map<string, string>();
    session.on('Debugger.scriptParsed', ({ params }: Parsed) => urls.set(params.scriptId, params.url));
    session.on('Debugger.paused', ({ params }: Paused) => {
      session.post('Debugger.resume');
      end(
        params.callFrames.flatMap(({ functionName, location }) => {
          const { scriptId, lineNumber, columnNumber = 0 } = location;
          const url = urls.get(scriptId) ?? 'unknown';
          if (url.startsWith('wasm:')) return [];
          return [`at ${functionName || '(anonymous)'} (${url}:${lineNumber + 1}:${columnNumber + 1})`];
        }),
      );
    });
    session.post('Debugger.enable');
    session.post('Debugger.pause');
  });
}
