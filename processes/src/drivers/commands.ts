/** What a connection to Redis or Valkey asks, as commands. */
import type { Questions } from './link.js';

/**
 * Returns the questions of a connection that sends commands. send: sends a command with its arguments; `key` tells a
 * client that speaks to all nodes of a cluster the node for a command that names no key.
 */
export const byCommands = (
  send: (command: string, args: readonly string[], key?: string) => Promise<unknown>,
): Questions => ({
  run: ({ text, sha }, keys, args, byText) =>
    send(byText ? 'EVAL' : 'EVALSHA', [byText ? text : sha, `${keys.length}`, ...keys, ...args]),
  // Beside subscriptions ioredis allows only a few commands, and knows this one only in small letters.
  ping: (key) => send('ping', [], key),
  info: (section, key) => send('INFO', [section], key),
  wait: (replicas, timeout, key) => send('WAIT', [`${replicas}`, `${timeout}`], key),
});
