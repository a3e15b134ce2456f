/** Prints what a database of PostgreSQL needs: the command sql. */
import { schema } from '../drivers/schema.js';
import { type Given, UsageError } from './arguments.js';
import { print } from './output.js';

export async function sql({ words, behind = [] }: Given): Promise<number> {
  const [word] = [...words, ...behind];
  if (word !== undefined) throw new UsageError(`sql: takes no names, got ${JSON.stringify(word)}`);
  await print(await schema());
  return 0;
}
