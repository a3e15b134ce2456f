/** What the server counts, read by INFO. */
import type { Server } from '../servers/servers.js';

export interface Counters {
  /** The calls of a command, with those from scripts. `micros` tells the microseconds that they took. */
  calls(command: string): number;
  micros(command: string): number;
  readonly bytesOut: number;
  /** Milliseconds of processor time of the server's process. */
  readonly processorTime: number;
}

export async function countersOf(server: Server): Promise<Counters> {
  const sections = await Promise.all(['commandstats', 'stats', 'cpu'].map((name) => server.send('INFO', name)));
  const text = sections.join('\n');
  const number = (pattern: string): number => Number(new RegExp(`^${pattern}`, 'm').exec(text)?.[1] ?? 0);
  return {
    calls: (command) => number(`cmdstat_${command}:calls=(\\d+)`),
    micros: (command) => number(`cmdstat_${command}:calls=\\d+,usec=(\\d+)`),
    bytesOut: number('total_net_output_bytes:(\\d+)'),
    processorTime: 1000 * (number('used_cpu_user:([\\d.]+)') + number('used_cpu_sys:([\\d.]+)')),
  };
}
