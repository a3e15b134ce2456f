/** The benchmark of taketurns-processes: starts each installed server, measures, and prints tables and targets. */
import { readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { environment } from '@taketurns/bench/dist/environment.js';
import { readFile, readRuns, readSeconds } from '@taketurns/bench/dist/options.js';
import { note } from '@taketurns/bench/dist/output.js';
import { Command, InvalidArgumentError } from 'commander';
import { findServers, startServer } from '../servers/servers.js';
import { type Extent, FULL, PARTS, QUICK } from './plan.js';
import { markdown, report } from './report.js';
import type { Part, Results, Run } from './results.js';

interface Given {
  parts: Part[];
  server?: string;
  rounds?: number;
  seconds?: number;
  quick?: boolean;
  json?: string;
  updateDocs?: boolean;
}

const PAGE = fileURLToPath(new URL('../../../docs/measurements.md', import.meta.url));

const names = Object.keys(PARTS) as Part[];

function readParts(text: string): Part[] {
  const given = text.split(',').map((part) => part.trim());
  const unknown = given.find((part) => !names.includes(part as Part));
  if (unknown !== undefined) {
    throw new InvalidArgumentError(
      `No part is called '${unknown}'. Allowed: ${names.join(', ')}, separated by commas.`,
    );
  }
  return names.filter((part) => given.includes(part));
}

function readServer(text: string): string {
  const allowed = findServers().map(({ name }) => name as string);
  if (allowed.includes(text)) return text;
  throw new InvalidArgumentError(
    `Allowed: those that are installed, ${allowed.join(' or ') || 'of which there is none'}.`,
  );
}

async function act(given: Given): Promise<void> {
  const usual = given.quick ? QUICK : FULL;
  const extent: Extent = { ...usual, rounds: given.rounds ?? usual.rounds, seconds: given.seconds ?? usual.seconds };
  const found = findServers().filter(({ name }) => given.server === undefined || name === given.server);
  if (found.length === 0) {
    console.error('no server found: apt-get install redis-server');
    process.exitCode = 1;
    return;
  }
  const runs: Run[] = [];
  const before = loadavg()[0] as number;
  for (const part of given.parts) {
    for (const binary of found) {
      const server = await startServer({ server: binary, args: ['--maxclients', '10000'] });
      const name = `${binary.name} ${binary.version}`;
      try {
        await PARTS[part](server, extent, (run) => {
          note(`${part}, ${name}: ${run.row}${run.at > 0 ? `, ${run.at}` : ''}`);
          runs.push({ server: name, part, ...run });
        });
      } finally {
        await server.kill();
      }
    }
  }
  note('');
  const results: Results = {
    environment: environment('none'),
    servers: found.map(({ name, version }) => `${name} ${version}`),
    load: { before, after: loadavg()[0] as number },
    options: { ...extent, parts: given.parts },
    runs,
  };
  console.log(report(results));
  if (given.updateDocs) updatePage(markdown(results));
  if (given.json !== undefined) writeFileSync(given.json, `${JSON.stringify(results, null, 1)}\n`);
}

const BEGIN = '<!-- measured -->';
const END = '<!-- /measured -->';

/** Writes the tables into a page, between its two marks. */
function updatePage(tables: string): void {
  const page = readFileSync(PAGE, 'utf8');
  const [from, to] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)];
  writeFileSync(PAGE, `${page.slice(0, from)}\n\n${tables}\n\n${page.slice(to)}`);
}

await new Command('bench:processes')
  .description('taketurns-processes beside other locks on Redis and Valkey, on each server that is installed')
  .option('--parts <names>', `only these parts (default: all): ${names.join(', ')}`, readParts, names)
  .option('--server <name>', 'only this server: redis or valkey', readServer)
  .option('--rounds <rounds>', `how often each row is measured (default: ${FULL.rounds})`, readRuns)
  .option('--seconds <seconds>', `length of an interval (default: ${FULL.seconds})`, readSeconds)
  .option('--quick', `a short form: ${QUICK.rounds} round of ${QUICK.seconds} s`)
  .option('--update-docs', 'write the tables into processes/docs/measurements.md')
  .option('--json <file>', 'write everything measured here', readFile)
  .action(act)
  .parseAsync();
