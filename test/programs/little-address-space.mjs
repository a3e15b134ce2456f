// A program makes arenas until the address space is used up. It says how many arenas there were, and what the error
// says.
import { Arena } from 'taketurns';

const arenas = [];
try {
  while (arenas.length < 8) arenas.push(new Arena());
} catch (error) {
  console.log(`${error.name}: ${error.message}, because: ${error.cause?.message}`);
}
console.log(`arenas: ${arenas.length}`);
