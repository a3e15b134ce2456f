/** A team is at work. The parent stops this process for a while, and afterwards ends the input of the process. */
import { once } from 'node:events';
import { startTeam } from './team.js';

const team = startTeam();
await team.progress();
console.log('at work');
await once(process.stdin.resume(), 'end');
await team.progress();
console.log(await team.finish());
