/** A worker of `npm run simulate -w check`: it simulates one configuration. */
import { programOf } from '../programs.js';
import { contenderOf } from './contenders.js';
import { type Configuration, type Counted, simulate } from './simulation.js';

export default function perform(configuration: Configuration): Counted {
  return simulate(programOf(contenderOf(configuration.contender)), configuration);
}
