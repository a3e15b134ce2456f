/** The environment variables of the process, on Node, in Deno and in Bun. */

interface Deno {
  readonly permissions: { querySync(what: object): { readonly state: string } };
}

const { Deno } = globalThis as { Deno?: Deno };

/**
 * Returns an environment variable. Undefined if it is not set, or in Deno if the program has no right to read it: Deno
 * would throw, or would ask the user.
 */
export function variable(name: string): string | undefined {
  const mayRead = Deno === undefined || Deno.permissions.querySync({ name: 'env', variable: name }).state === 'granted';
  return mayRead ? process.env[name] : undefined;
}
