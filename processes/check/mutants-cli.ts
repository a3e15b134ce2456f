/**
 * Makes the mutants of the script, and of the rules of the client, and says which check detects each of them:
 *
 *   1 random calls, of the kind that replay.test.ts compares with real servers: other answers, messages, data
 *   2 simulated worlds (simulation.ts)     3 the beginnings of the searches that the tests make
 *
 * And the mutants of what runs the script without a server (broker-mutants.ts), by random calls and scenes.
 *
 * A mutant that no check detects must be listed in mutants-explained.ts with the reason. A reason there that explains
 * no mutant is an error. `LINES=queue.lua:45,call.lua:9` tries only the mutants of these lines of src/script/, and
 * `LINES=rates.lua` those of a whole file.
 * `SHARD=0/4` tries only every fourth mutant, and says which reasons it used. Arguments: `--rules` tries the rules
 * alone, `--lua` the script alone, `--broker` what a broker has alone; `--markdown FILE` writes the report.
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { BrokerCheck, brokerMutants, subjectOf, type ToldOfBroker } from './broker-mutants.js';
import { CallWriter, scriptedCalls, ticketIn } from './calls.js';
import { RULES, type Rules } from './client.js';
import { RULE_SEARCHES, SHORT } from './configurations.js';
import { Data, type Surroundings } from './data-model.js';
import { LuaError, parseLua } from './lua.js';
import { type Mutant, Reasons } from './mutant.js';
import { mutantsOf } from './mutants.js';
import { EXPLAINED, EXPLAINED_OF_BROKER } from './mutants-explained.js';
import { fixedRateCalls, RateWriter } from './rate-calls.js';
import { search } from './search.js';
import { KEYS, Server, type Turn, turnChunk } from './server.js';
import { simulate } from './simulation.js';

const SEEDS = [1, 2, 3, 4, 5, 6];
/** In every other recording a call does so little that much is left. */
const LITTLE = { WORK: 1, MOST_FOUND: 2 };
/**
 * In the recordings of rates, all dates that lie ahead are listed, there may be few runs and holes, and what takes long
 * takes a little.
 */
const OF_RATES = { FAR: 0, BEATS: 400_000, MOST_RUNS: 8, MOST_HOLES: 2, QUIET: 50_000 };
const changed = (source: string, constants: Readonly<Record<string, number>>): string =>
  Object.entries(constants).reduce(
    (text, [name, value]) => text.replace(new RegExp(`(local ${name} = )\\d+`), `$1${value}`),
    source,
  );
const CALLS = 1200;
const WORLDS = 4;

interface Recorded {
  readonly args: readonly string[];
  readonly surroundings: Surroundings;
  readonly answer: string;
  readonly data: string;
}

const answerOf = ({ reply, published }: Turn): string => JSON.stringify([reply, published]);

/** The calls of one seed with what the script answers: the same as real servers do, see replay.test.ts. */
function record(seed: number): Recorded[] {
  const writer = new CallWriter(seed, KEYS);
  const server = new Server(turnChunk(seed % 2 === 0 ? LITTLE : {}));
  const recorded: Recorded[] = [];
  let data = new Data();
  let time = 1_700_000_000_000_000;
  let history = 1;
  for (let call = 0; call < CALLS; call++) {
    if (writer.chance(1)) history++;
    // Sometimes backwards, as clocks jump.
    time += (writer.chance(3) ? -1 : 1) * 1000 * (1 + (call % 17)) + 37;
    const args = writer.call(data);
    const where = { time, history: call > 1000 && call < 1020 ? undefined : String(history).padStart(40, '0') };
    const turn = server.turn(data, args, where);
    data = turn.data;
    recorded.push({ args, surroundings: where, answer: answerOf(turn), data: data.text() });
  }
  return recorded;
}

type Told = 'does not run' | 'world' | 'search' | 'answer' | 'nothing';

function answersDiffer(server: Server, calls: readonly Recorded[]): boolean {
  let data = new Data();
  for (const { args, surroundings, answer, data: text } of calls) {
    const turn = server.turn(data, args, surroundings);
    if (answerOf(turn) !== answer || turn.data.text() !== text) return true;
    data = turn.data;
  }
  return false;
}

/** The fixed sequence, with what the script answers. A history of its own for the calls where memory is full. */
function scripted(): Recorded[] {
  const server = new Server(turnChunk());
  let data = new Data();
  return scriptedCalls('c:').map((next) => {
    const { args, ...more } = next(ticketIn(data));
    const surroundings = { time: 1_700_000_000_000_000, history: more.isFull ? '2' : '1', ...more };
    const turn = server.turn(data, args, surroundings);
    data = turn.data;
    return { args, surroundings, answer: answerOf(turn), data: data.text() };
  });
}

/** The same of calls on rates, while the server's clock jumps. */
function recordRates(seed: number): Recorded[] {
  const writer = new RateWriter(seed, KEYS);
  const server = new Server(turnChunk(OF_RATES));
  const recorded: Recorded[] = [];
  let data = new Data();
  let [time, offset, history] = [0, 0, 1];
  const nameOf = (each: number): string => (each * 0x1_f003).toString(16).padStart(40, '0');
  for (let call = 0; call < CALLS; call++) {
    time += writer.rest();
    offset = writer.jumped(offset);
    if (writer.chance(1)) history++;
    const args = writer.call(data, time * 1000);
    const where = { time: 1_700_000_000_000_000 + (time + offset) * 1000, history: nameOf(history) };
    const turn = server.turn(data, args, where);
    writer.heard(turn.reply, time * 1000);
    data = turn.data;
    recorded.push({ args, surroundings: where, answer: answerOf(turn), data: data.text() });
  }
  return recorded;
}

/** The fixed sequence of calls on rates. */
function fixedRates(): Recorded[] {
  const server = new Server(turnChunk());
  let data = new Data();
  return fixedRateCalls().map(({ time, args }) => {
    const surroundings = { time, history: '1' };
    const turn = server.turn(data, args, surroundings);
    data = turn.data;
    return { args, surroundings, answer: answerOf(turn), data: data.text() };
  });
}

const records = [...SEEDS.map(record), scripted()];
const rates = SEEDS.map(recordRates);
const fixedOfRates = fixedRates();
const QUICK = SHORT.filter(({ name }) => /robust: K|part first|1 of 1: F/.test(name));

/** Whether something is wrong in a world with this script. One that takes a key for one of another type is wrong too. */
async function breaks(seed: number, server: Server): Promise<boolean> {
  try {
    return (await simulate({ seed, failovers: seed % 3 === 0, server })).fault !== undefined;
  } catch (error) {
    if (error instanceof LuaError) return true;
    throw error;
  }
}

/** `LINES`: lines or whole files. */
const isChosen = ({ place }: Mutant): boolean =>
  process.env.LINES?.split(',').some((each) => each === place || each === place.split(':')[0]) ?? true;

const reasons = new Reasons(EXPLAINED);

async function tell(mutant: Mutant): Promise<Told> {
  let server: Server;
  try {
    server = new Server(parseLua(mutant.source));
  } catch {
    return 'does not run';
  }
  const serverWith = (constants: Readonly<Record<string, number>>): Server =>
    new Server(parseLua(changed(mutant.source, constants)));
  // Only the recordings of rates have rates. They come last for the others, since they seldom tell those.
  const isOfRates = mutant.place.startsWith('rates.lua');
  if (!isOfRates) {
    const doesLittle = serverWith(LITTLE);
    if (records.some((calls, at) => answersDiffer(at % 2 === 1 ? doesLittle : server, calls))) return 'answer';
  }
  if (answersDiffer(server, fixedOfRates)) return 'answer';
  const hasRates = serverWith(OF_RATES);
  if (rates.some((calls) => answersDiffer(hasRates, calls))) return 'answer';
  // What has a reason is not looked for further.
  if (reasons.of(mutant)) return 'nothing';
  // The worlds and the searches have no rates.
  if (isOfRates) return 'nothing';
  for (let seed = 1; seed <= WORLDS; seed++) if (await breaks(seed, server)) return 'world';
  for (const configuration of QUICK) if (search(configuration, 3_000, server).finding) return 'search';
  return 'nothing';
}

function rules(): { readonly lines: string[]; readonly missed: number } {
  const lines = [
    '| rule of the client that is left out | configuration | states until told | finding |',
    '| --- | --- | ---: | --- |',
  ];
  let missed = 0;
  for (const rule of Object.keys(RULES) as (keyof Rules)[]) {
    const configuration = RULE_SEARCHES[rule];
    const { after = [] } = configuration;
    const { finding, states } = search({ ...configuration, rules: { [rule]: false } });
    if (!finding) missed++;
    const where = after.length > 0 ? `${configuration.name}, after ${after.length} steps` : configuration.name;
    const line = `| \`${rule}\` | ${where} | ${states} | ${finding?.fault ?? '**not told**'} |`;
    console.log(line);
    lines.push(line);
  }
  return { lines, missed };
}

/** The mutants of what runs the script without a server. */
async function broker(): Promise<{ readonly lines: string[]; readonly missed: number }> {
  const [shard = 0, shards = 1] = (process.env.SHARD ?? '0/1').split('/').map(Number);
  const mutants = brokerMutants().filter((mutant, at) => at % shards === shard && isChosen(mutant));
  const check = new BrokerCheck(await subjectOf());
  const by = new Map<ToldOfBroker | 'explained', number>();
  const reasonsOfBroker = new Reasons(EXPLAINED_OF_BROKER);
  for (const [at, mutant] of mutants.entries()) {
    if (at % 100 === 99) console.log(`${at + 1} of ${mutants.length}`);
    let told: ToldOfBroker | 'explained' = await check.tell(mutant);
    if (told === 'nothing' && reasonsOfBroker.explains(mutant)) told = 'explained';
    by.set(told, (by.get(told) ?? 0) + 1);
  }
  const count = (told: ToldOfBroker | 'explained'): number => by.get(told) ?? 0;
  let missed = count('nothing');
  if (shards === 1 && !process.env.LINES) missed += reasonsOfBroker.sayUnused();
  const report = [
    '| mutants of the state, the store and the compiler | |',
    '| --- | ---: |',
    `| made | ${mutants.length} |`,
    `| the compiler makes the same script | ${count('is the same')} |`,
    `| told by another answer, message or state, or by an error | ${count('answer')} |`,
    `| told since they do not end | ${count('does not end')} |`,
    `| not told, explained | ${count('explained')} |`,
    `| not told, not explained | ${count('nothing')} |`,
  ];
  console.log(report.join('\n'));
  return { lines: report, missed };
}

const wanted = process.argv.slice(2);
const parts = ['--lua', '--broker', '--rules'];
const isWanted = (part: string): boolean => wanted.includes(part) || !parts.some((each) => wanted.includes(each));
const report: string[] = [];
let failed = false;
if (isWanted('--lua')) {
  const started = performance.now();
  const [shard = 0, shards = 1] = (process.env.SHARD ?? '0/1').split('/').map(Number);
  const mutants = mutantsOf().filter((mutant, at) => at % shards === shard && isChosen(mutant));
  const by = new Map<Told | 'explained', number>();
  let looked = 0;
  for (const mutant of mutants) {
    let told: Told | 'explained' = await tell(mutant);
    if (++looked % 100 === 0) console.log(`${looked} of ${mutants.length}`);
    if (told === 'nothing' && reasons.explains(mutant)) told = 'explained';
    by.set(told, (by.get(told) ?? 0) + 1);
  }
  const count = (told: Told | 'explained'): number => by.get(told) ?? 0;
  const run = mutants.length - count('does not run');
  const detected = run - count('explained') - count('nothing');
  report.push(
    '| mutants of the script | |',
    '| --- | ---: |',
    `| made | ${mutants.length} |`,
    `| do not compile | ${count('does not run')} |`,
    `| told in ${WORLDS} simulated worlds: an invariant is broken, somebody waits for ever, something is left | ${count('world')} |`,
    `| told by another answer, message or state than the script has | ${count('answer')} |`,
    `| told by a search alone | ${count('search')} |`,
    `| not told, explained | ${count('explained')} |`,
    `| not told, not explained | ${count('nothing')} |`,
    `| told, of those that run | ${((100 * detected) / run).toFixed(1)} % |`,
    '',
  );
  console.log(report.join('\n'));
  if (count('nothing') > 0) failed = true;
  if (shards === 1 && !process.env.LINES && reasons.sayUnused() > 0) failed = true;
  if (shards > 1) console.log(`reasons used: ${reasons.used.join(' ')}`);
  console.log(`${((performance.now() - started) / 1000).toFixed(0)} s, ${cpus()[0]?.model}`);
  if (EXPLAINED.length > 0) {
    report.push('Not told, and why that is right:', '', '| in | reason |', '| --- | --- |');
    for (const { text, reason } of EXPLAINED) report.push(`| \`${text.replaceAll('|', '\\|')}\` | ${reason} |`);
    report.push('');
  }
}
if (isWanted('--broker')) {
  const { lines, missed } = await broker();
  report.push(...lines, '');
  if (missed > 0) failed = true;
}
if (isWanted('--rules')) {
  const { lines, missed } = rules();
  report.push(...lines, '');
  if (missed > 0) failed = true;
}
const at = wanted.indexOf('--markdown');
if (at >= 0) writeFileSync(wanted[at + 1] as string, `${report.join('\n')}\n`);
if (failed) process.exitCode = 1;
