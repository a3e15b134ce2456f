/**
 * Runs random programs over all classes of `taketurns` and `taketurns/sync`, with real workers, callbacks that call the
 * library, kills, interrupts and disposals, and checks what must always hold. A seed makes a program, but the schedule
 * of its threads differs each time. The soak prints a line each minute, and exits with 1 if it has found anything.
 */
import { fork } from 'node:child_process';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { kinds as all } from './soak/kinds/all.mjs';
import { describe, planOf } from './soak/plan.mjs';

const KINDS = Object.keys(all);

const USAGE = `Runs random programs over all classes, and checks what must always hold.

  node test/programs/soak.mjs --minutes 60 --parallel 2 --kinds mutex,condition
  node test/programs/soak.mjs --seed 123 --times 50

  --minutes <n>       how long (1 without --seed and --most)
  --seed <n>          one program, by its number; --times <n>: again and again
  --from <n>          the number of the first program; the next ones follow
  --most <n>          so many programs
  --parallel <n>      so many at a time (1)
  --kinds <names>     only objects of these: ${KINDS.join()}
  --with <json>       replaces parts of the plan, so as to find out what a finding needs: '{"callbacks":0}'
  --still <seconds>   a program is stuck in which nothing has changed for so long (45; on an idle machine 10 will do)
  --help              this`;

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    minutes: { type: 'string' },
    seed: { type: 'string' },
    times: { type: 'string', default: '1' },
    from: { type: 'string', default: String(Date.now() % 1_000_000) },
    parallel: { type: 'string', default: '1' },
    kinds: { type: 'string', default: KINDS.join() },
    most: { type: 'string' },
    still: { type: 'string', default: '45' },
    with: { type: 'string', default: '{}' },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit();
}
const kinds = values.kinds.split(',');
for (const kind of kinds) {
  if (KINDS.includes(kind)) continue;
  console.error(`--kinds: ${kind} is none of ${KINDS.join(', ')}`);
  process.exit(2);
}
/** How many programs one process runs. The limit bounds the memory of a process. */
const A_PROCESS = 100;
/** How many milliseconds a program may take. A stuck program ends itself earlier, unless its main thread hangs. */
const DEADLINE = 180_000;

const given = JSON.parse(values.with);
const isOne = values.seed !== undefined;
const minutes = values.minutes ?? (isOne || values.most !== undefined ? Infinity : 1);
const end = performance.now() + minutes * 60_000;
const totals = { programs: 0 };
let left = isOne ? Number(values.times) : Number(values.most ?? Infinity);
let next = Number(isOne ? values.seed : values.from);
let findings = 0;

function nextSeed() {
  if (left-- <= 0 || performance.now() > end) return undefined;
  return isOne ? next : next++;
}

function tell(seed, what, state = '') {
  findings++;
  const only = kinds.length < KINDS.length ? ` --kinds ${kinds.join()}` : '';
  const changed = values.with === '{}' ? '' : ` --with '${values.with}'`;
  console.log(`\nFOUND, by program ${seed}: ${what}`);
  console.log(describe(planOf(seed, kinds, given)));
  if (state) console.log(`state at the end:\n${state}`);
  console.log(`again: node test/programs/soak.mjs --seed ${seed} --times 100${only}${changed}\n`);
}

/** Runs programs in a process. Returns whether more programs may run. */
function inAProcess() {
  return new Promise((resolve) => {
    const child = fork(new URL('soak/child.mjs', import.meta.url), {
      execArgv: [],
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    });
    let done = 0;
    let seed;
    let timer;
    let said = '';
    let isOver = false;
    child.stderr.on('data', (data) => {
      said = (said + data).slice(-4000);
    });
    const close = (mayGoOn) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      child.kill('SIGKILL');
      resolve(mayGoOn);
    };
    const begin = () => {
      seed = done++ < A_PROCESS ? nextSeed() : undefined;
      if (seed === undefined) {
        close(done > A_PROCESS);
        return;
      }
      timer = setTimeout(() => {
        tell(seed, `its main thread hangs\n${said}`);
        close(true);
      }, DEADLINE);
      child.send({ seed, kinds, given, still: Number(values.still) * 1000 });
    };
    child.on('message', ({ result, failed }) => {
      if (isOver) return;
      clearTimeout(timer);
      if (failed !== undefined) {
        tell(seed, failed);
        close(true);
        return;
      }
      totals.programs++;
      for (const [name, n] of Object.entries(result.counts)) totals[name] = (totals[name] ?? 0) + n;
      if (result.findings.length > 0) {
        const all = result.findings
          .slice(0, 5)
          .map(
            ({ what, life, error }) =>
              `${life === undefined ? '' : `life ${life}: `}${what}${error ? `\n${error}` : ''}`,
          );
        tell(seed, all.join('\n'), result.state);
        // A process that is stuck may keep the processor busy.
        close(true);
      } else begin();
    });
    child.on('exit', (code, signal) => {
      if (!isOver && seed !== undefined) tell(seed, `its process has ended with ${code ?? signal}\n${said}`);
      close(true);
    });
    begin();
  });
}

const line = () =>
  console.log(
    Object.entries(totals)
      .map(([name, n]) => `${n} ${name}`)
      .join(', '),
  );
const telling = setInterval(line, 60_000);
const mayGoOn = () => left > 0 && performance.now() < end && findings < 20;
async function worker() {
  while (mayGoOn()) if (!(await inAProcess())) break;
}
await Promise.all(Array.from({ length: Number(values.parallel) }, worker));
clearInterval(telling);
line();
console.log(findings === 0 ? 'nothing found' : `${findings} programs have found something`);
process.exit(findings === 0 ? 0 : 1);
