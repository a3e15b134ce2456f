/** Runs the program of a plan in this process, and returns what it has found and counted. */
import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';
import { Arena } from 'taketurns';
import { Board, HELD, LIVES } from './board.mjs';
import { Draw } from './draw.mjs';
import { kinds } from './kinds/all.mjs';
import { immediately, Life, ON_PURPOSE } from './life.mjs';
import { describe } from './plan.mjs';

/** After this time without any progress, permits that a dead thread may have taken are given back. */
const MEND = 5_000;
/** The most suspicions that are kept. */
const SUSPICIONS = 2000;
/** The elements that the main thread keeps for itself. */
const OWN = 2;
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

class Program {
  findings = [];
  suspicions = [];
  alive = new Map();
  /** The workers that have begun to use the objects. */
  ready = new Set();
  begun = 0;
  lives = 0;
  kills = 0;
  /** How many threads have ended. */
  deaths = 0;
  /** For each object: how many permits or tasks may be lost. */
  unsure = [];
  /** Whether the program stood still after deaths, so what was lost has been given back. */
  mended = false;

  /** @param still milliseconds without any progress after which the program counts as stuck. */
  constructor(plan, still) {
    this.plan = plan;
    this.still = still;
    this.draw = new Draw(plan.seed + 77);
    this.board = new Board();
    this.arena = new Arena(plan.arena);
    this.libs = plan.objects.map((object) => kinds[object.kind].make(object, this.arena));
    this.handles = this.libs.map(({ handle }) => handle);
    this.life = new Life({
      ...{ plan, board: this.board, number: this.lives++, handles: this.handles, arena: this.arena },
      report: (finding) => this.findings.push(finding),
      say: ({ suspicion }) => this.#suspect(suspicion),
    });
  }

  #suspect(suspicion) {
    if (this.suspicions.length < SUSPICIONS) this.suspicions.push(suspicion);
  }

  find(what) {
    this.findings.push({ what });
  }

  /** Calls the method of each kind that has it. */
  each(method, call) {
    return this.plan.objects.map(
      (object, i) => kinds[object.kind][method] && call(kinds[object.kind], object, this.libs[i]),
    );
  }

  start(isVisitor = false) {
    const number = this.lives++;
    const { plan, board, arena, handles } = this;
    const worker = new Worker(new URL('thread.mjs', import.meta.url), {
      workerData: { plan, words: board.words, number, arena: arena.handle, isVisitor, handles },
    });
    this.alive.set(number, worker);
    worker.on('message', ({ isReady, finding, suspicion }) => {
      if (isReady) {
        this.ready.add(worker);
        this.begun++;
      }
      if (finding) this.findings.push(finding);
      if (suspicion) this.#suspect(suspicion);
    });
    worker.on('error', (error) => {
      if (error?.message !== ON_PURPOSE) this.find(`life ${number} has failed: ${inspect(error)}`);
    });
    const ended = new Promise((resolve) => worker.on('exit', resolve));
    if (!plan.arena.watch) arena.watch(worker);
    worker.on('exit', () => {
      this.ready.delete(worker);
      this.#ended(number);
    });
    return ended;
  }

  #ended(number) {
    this.alive.delete(number);
    this.deaths++;
    this.each('ended', (kind, object, lib) => {
      try {
        this.unsure[object.index] = (this.unsure[object.index] ?? 0) + kind.ended(this.board, object, lib, number);
      } catch (error) {
        if (!this.board.isEnding)
          this.find(`what life ${number} has held of object ${object.index} cannot be given back: ${inspect(error)}`);
      }
    });
  }

  async #keepWorker() {
    while (!this.board.hasStopped && this.lives < LIVES - 1) await this.start();
  }

  async #visit() {
    const { draw, plan, board } = this;
    for (let i = 0; i < plan.visitors && !board.hasStopped && this.lives < LIVES - 1; i++) {
      await sleep(draw.upTo(plan.milliseconds / 4));
      await this.start(true);
    }
  }

  #kill() {
    const all = [...(this.draw.chance(0.9) ? this.ready : this.alive.values())];
    if (all.length === 0) return;
    this.kills++;
    this.draw.of(all).terminate();
  }

  async run() {
    const { plan, board, life } = this;
    const all = [...Array.from({ length: plan.workers }, () => this.#keepWorker()), this.#visit()];
    all.push(life.live(() => board.hasStopped));
    let isOver = false;
    Promise.all(all).then(
      () => {
        isOver = true;
      },
      (error) => {
        this.find(`the main thread has failed: ${inspect(error)}`);
        isOver = true;
      },
    );
    for (let i = 0; i < 1000 && this.begun < plan.workers; i++) await sleep(5);
    const killing = plan.killEvery > 0 ? setInterval(() => this.#kill(), plan.killEvery) : undefined;
    const end = performance.now() + plan.milliseconds;
    while (performance.now() < end && this.findings.length === 0) {
      await sleep(5);
      this.#feed();
    }
    clearInterval(killing);
    board.stop();
    const settled = await this.#quiet(() => isOver && this.alive.size === 0 && life.loose.size === 0);
    if (settled) await this.#close();
    else for (const worker of this.alive.values()) worker.terminate();
    return this.#result();
  }

  /** Waits for the end: nobody begins anything new, and all who wait must go on. Returns whether all have gone on. */
  async #quiet(isOver) {
    const { plan, board } = this;
    if (plan.disposes) {
      await sleep(this.draw.upTo(20));
      board.end();
      this.#dispose();
    }
    let seen = '';
    let since = performance.now();
    let isMended = false;
    while (!isOver()) {
      if (!board.isEnding) this.#feed();
      const now = `${board.words.join()} ${this.alive.size}`;
      if (now !== seen) {
        seen = now;
        since = performance.now();
      }
      const still = performance.now() - since;
      if (still > MEND && !isMended && !board.isEnding) {
        isMended = true;
        this.each('mend', (kind, { index }, lib) => kind.mend(lib, this.unsure[index] ?? 0, this.#notedOf(index)));
        this.mended = this.deaths > 0;
      }
      if (still > this.still) {
        this.find(`stuck: nothing has changed for ${Math.round(still)} ms\n${this.#state()}`);
        return false;
      }
      await sleep(2);
    }
    return true;
  }

  /** Returns how much the living threads have noted that they hold of an object. */
  #notedOf(index) {
    return [0, ...this.alive.keys()].reduce((sum, life) => sum + this.board.noted(life, index, HELD), 0);
  }

  /** Lets waiters go on that wait for something that perhaps no thread ever does. */
  #feed() {
    // The library objects of the main thread's life are used, because they have the `onOwnerDied` that repairs.
    for (const object of this.life.objects) object.kind.feed?.(this, object, object.lib);
  }

  #dispose() {
    this.plan.objects.forEach(({ kind }, i) => {
      const { disposeOf } = kinds[kind];
      if (disposeOf) disposeOf(this.libs[i]);
      else this.libs[i].dispose();
    });
  }

  /**
   * Checks the end, when all threads have ended: nobody may be left in an object, and nothing of the arena may be in
   * use.
   */
  async #close() {
    const { board, arena } = this;
    await this.#comes(
      () => arena.threads === 1,
      () => `threads have ended and are attached: ${inspect(arena.stats().threads)}`,
    );
    for (const suspicion of this.suspicions) this.#judge(suspicion);
    if (!board.isEnding) {
      const { deaths, plan } = this;
      // Whether every call has ended, and its thread has noted the answer.
      const notesAll = plan.killEvery === 0 && plan.ends === 0 && board.counts.interrupts === 0;
      this.each('wrong', (kind, object, lib) => {
        const wrong = kind.wrong({ board, deaths, notesAll, unsure: this.unsure[object.index] ?? 0 }, object, lib);
        if (wrong !== undefined) this.find(`${object.kind} ${object.index}: ${wrong}`);
      });
      this.#dispose();
    }
    this.life.user.disposeOfMortals();
    await immediately();
    let lost = 0;
    for (let number = 0; number < this.lives; number++) lost += Math.max(board.made(number), 0);
    const wrong = () => {
      const { threads, waiting, cancelled, elements, objects, holders } = arena.stats();
      const isClean = threads.length === 1 && !waiting && !cancelled && !holders && objects.used <= lost;
      return isClean && elements.used <= OWN + lost ? undefined : inspect(arena.stats(), { depth: 4 });
    };
    await this.#comes(
      () => wrong() === undefined,
      () => `the arena is not as it was (${lost} objects of dead threads may be lost): ${wrong()}`,
    );
  }

  async #comes(is, otherwise) {
    const end = performance.now() + this.still;
    while (!is() && performance.now() < end) await sleep(5);
    if (!is()) this.find(otherwise());
  }

  /**
   * Decides at the end whether a suspicion is a finding. It is none if it rests on a note of a thread that has died
   * since.
   */
  #judge(suspicion) {
    const { board } = this;
    const { object, what, all, most, place, since, runner, ofPlace } = suspicion;
    if (ofPlace !== undefined) return;
    if (place !== undefined) {
      if (board.standsStill({ place, since })) return;
      const isOf = (other) => other.ofPlace === place && other.since === since;
      suspicion.end = this.suspicions.find(isOf)?.end;
    } else if (runner !== undefined) {
      if (this.deaths > 0) return;
    } else {
      const living = all.filter(([life]) => board.noted(life, object, 0) === 0 && life !== undefined);
      const sum = living.reduce((sum, [life, held]) => sum + (life === suspicion.life && most === 0 ? 0 : held), 0);
      if (sum <= most) return;
    }
    this.find(`${what}: ${JSON.stringify(suspicion)}`);
  }

  #state() {
    const lines = [];
    for (const number of [0, ...this.alive.keys()]) {
      lines.push(`  life ${number}: ${this.board.done(number).join(', ') || 'in no call'}`);
    }
    this.plan.objects.forEach(({ index, kind }) => {
      const lib = this.libs[index];
      const state = (tell) => {
        try {
          return inspect(tell(), { depth: 4, breakLength: 150 });
        } catch (error) {
          return String(error);
        }
      };
      lines.push(`  ${index}: ${lib} ${state(() => lib.inspect())}`);
      if (kind === 'condition') lines.push(`     ${lib.mutex} ${state(() => lib.mutex.inspect())}`);
      const words = Array.from({ length: 11 }, (_, word) => this.board.load(index, word));
      lines.push(`     board: ${words.join(' ')}`);
    });
    lines.push(`  arena: ${inspect(this.arena.stats(), { depth: 4, breakLength: 150 })}`);
    return lines.join('\n');
  }

  #result() {
    const { plan, board, findings, suspicions, kills, deaths } = this;
    if (findings.length === 0 && board.counts.found > 0)
      this.find('a thread has found something, and died before it could tell');
    const counts = {
      ...board.counts,
      kills,
      threads: this.lives,
      deaths,
      mended: Number(this.mended),
      suspicions: suspicions.length,
    };
    const state = findings.length > 0 ? this.#state() : undefined;
    if (findings.length === 0) this.arena.dispose();
    return { seed: plan.seed, counts, findings, plan: describe(plan), state };
  }
}

export const run = (plan, still) => new Program(plan, still).run();
