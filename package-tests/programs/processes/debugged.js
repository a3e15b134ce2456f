/** A team is at work, and a debugger pauses its threads, first one by one and then all at once. */
import { Session } from 'node:inspector/promises';
import { startTeam } from './team.js';

const PAUSE = 50;
const work = startTeam();
await work.progress();

const session = new Session();
session.connect();
const team = [];
/** The functions to call when a thread has paused, by the id of the thread's session. */
const paused = new Map();
session.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
  // The keeper is the thread whose code has no address. It runs no code at this time, so it would not pause.
  if (workerInfo.url !== '') team.push(sessionId);
});
session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
  if (JSON.parse(params.message).method === 'Debugger.paused') paused.get(params.sessionId)?.();
});
const tell = (sessionId, method) =>
  session.post('NodeWorker.sendMessageToWorker', { sessionId, message: JSON.stringify({ id: 1, method }) });

/** Pauses these threads, lets the others work for a while, and then lets these threads run on. */
async function pause(some) {
  await Promise.all(
    some.map(async (id) => {
      const pauses = new Promise((resolve) => paused.set(id, resolve));
      await tell(id, 'Debugger.pause');
      await pauses;
    }),
  );
  await new Promise((resolve) => setTimeout(resolve, PAUSE));
  for (const id of some) await tell(id, 'Debugger.resume');
  await work.progress();
}

await session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
for (const id of team) await tell(id, 'Debugger.enable');
for (const id of team) await pause([id]);
await pause(team);
console.log(`${team.length} threads, ${await work.finish()}`);
session.disconnect();
