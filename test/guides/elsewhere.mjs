/** The other thread of `elsewhere` in rows.ts: runs a function of which it gets the text. */
import { parentPort, workerData } from 'node:worker_threads';
import * as locks from 'taketurns';
import * as channels from 'taketurns/channel';
import * as reports from 'taketurns/report';
import * as sync from 'taketurns/sync';

const run = new Function(`return (${workerData.source})`)();
const tell = (what) => parentPort.postMessage({ told: [what] });
const answer = await run({ ...reports, ...channels, ...sync, ...locks, data: workerData.data, tell });
parentPort.postMessage({ answer: [answer] });
