/** The queue under a simulated schedule: the reader takes single steps, also backwards, or plays slow motion. */
import { button, byId, h, put } from '../ui/dom.js';
import { counted } from '../ui/format.js';
import { every } from '../ui/frames.js';
import { Settings } from '../ui/settings.js';
import { ArrayView } from './array.js';
import { type Choice, SCENARIOS, Simulation } from './simulation.js';

/** The log shows this many of the latest lines. */
const LINES = 200;
const SPEEDS = [1, 2, 4, 8, 16, 30];
/** The probability that the schedule stays with the thread that has just run. */
const STICKY = 0.6;
/** The probability that threads that want permits go first. */
const PATIENT = 0.8;

interface Card {
  readonly element: HTMLElement;
  readonly state: HTMLElement;
  readonly program: HTMLElement;
  readonly next: HTMLElement;
  readonly actions: HTMLElement;
}

export function stepper(): void {
  const root = byId('stepper-lab');
  let playing: (() => void) | undefined;
  let seed = 1;

  const settings = new Settings('steps', 'queue');
  const scenario = settings.select(
    'scenario',
    'what happens',
    SCENARIOS.map(({ id, title }) => [id, title] as const),
    (id) => restart(id),
  );
  let simulation = new Simulation(scenarioOf(scenario.value));
  const speed = settings.slider(
    'speed',
    'slow motion',
    SPEEDS,
    4,
    (n) => `${counted(n, 'step')} a second`,
    () => playing !== undefined && run(),
  );
  const next = button('Next step', () => act(choose), 'primary');
  const back = button('Back', () => goBack());
  const play = button('Play', () => toggle());
  const reset = button('From the start', () => restart(scenario.value));
  const about = h('p', { class: 'about' });
  const ticket = h('dd', { 'data-word': 'ticket' });
  const grant = h('dd', { 'data-word': 'grant' });
  const collisions = h('dd', { 'data-figure': 'collisions' });
  const timeouts = h('dd', { 'data-figure': 'timeouts' });
  const steps = h('dd', { 'data-figure': 'steps' });
  const tickets = h('ol', { class: 'tickets', 'aria-label': 'Tickets, in their order' });
  const array = new ArrayView();
  const elements = h('tbody');
  const threads = h('div', { class: 'threads' });
  const log = h('ol', { class: 'log', 'aria-label': 'Steps, the latest first' });
  const said = h('p', { class: 'said', role: 'status' });
  let cards: Card[] = [];

  /**
   * Returns a random number from 0 to 1 that depends only on the seed and on the number of steps. So a reader who goes
   * back and then on again sees the same steps.
   */
  function chance(): number {
    let x = (seed + simulation.steps.length * 0x9e3779b1) | 0;
    x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
    x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
    return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
  }

  /** Chooses what happens next: a step of a thread, or a time-out if no thread can step. No thread is killed. */
  function choose(): Choice | undefined {
    const open = simulation.open().filter(({ kind }) => kind !== 'kill');
    const able = open.filter(({ kind }) => kind === 'step');
    // Most of the time, threads that acquire go before a thread that releases. Otherwise no thread would have to wait.
    const wanting = able.filter(({ choice }) => simulation.wants(simulation.threadOf(choice)));
    const dice = chance();
    const from = wanting.length > 0 && dice < PATIENT ? wanting : able.length > 0 ? able : open;
    const latest = simulation.steps.at(-1)?.thread;
    const same = from.find(({ choice }) => simulation.threadOf(choice) === latest);
    if (same !== undefined && (dice * 31) % 1 < STICKY) return same;
    return from[Math.floor(((dice * 7919) % 1) * from.length)];
  }

  function act(which: () => Choice | undefined): void {
    const choice = simulation.violation === undefined ? which() : undefined;
    if (choice === undefined) {
      pause();
      return;
    }
    simulation.apply(choice.choice);
    const last = simulation.steps.at(-1);
    if (last !== undefined) {
      log.prepend(
        h(
          'li',
          { class: `t${last.thread}` },
          h('b', {}, `T${last.thread}`),
          h('span', { class: 'where' }, last.where.split(' > ').slice(-1)[0] ?? ''),
          h('span', {}, last.what),
        ),
      );
    }
    while (log.children.length > LINES) log.lastElementChild?.remove();
    show();
  }

  function goBack(): void {
    if (simulation.steps.length === 0) return;
    pause();
    simulation = simulation.back();
    log.firstElementChild?.remove();
    show();
  }

  function restart(id: string): void {
    pause();
    simulation = new Simulation(scenarioOf(id));
    log.replaceChildren();
    seed++;
    lay();
    show();
  }

  function toggle(): void {
    if (playing !== undefined) {
      pause();
      return;
    }
    if (simulation.isOver) restart(scenario.value);
    act(choose);
    run();
    put(play, 'Pause');
  }

  /** Plays at the present speed. */
  function run(): void {
    playing?.();
    playing = every(1000 / speed.value, root, () => act(choose));
  }

  function pause(): void {
    playing?.();
    playing = undefined;
    put(play, 'Play');
  }

  function lay(): void {
    put(about, simulation.scenario.about);
    cards = Array.from({ length: simulation.threads }, (_, t) => {
      const [state, program] = [h('span', { class: 'does' }), h('ol', { class: 'program' })];
      const [nextStep, actions] = [h('p', { class: 'next' }), h('div', { class: 'group' })];
      const element = h(
        'article',
        { class: `thread t${t}`, 'data-thread': t },
        h('h4', {}, h('span', { class: 'chip' }, `T${t}`), state),
        program,
        nextStep,
        actions,
      );
      return { element, state, program, next: nextStep, actions };
    });
    threads.replaceChildren(...cards.map(({ element }) => element));
  }

  function show(): void {
    const sim = simulation;
    const touched = sim.steps.at(-1)?.word ?? '';
    put(ticket, String(sim.ticket));
    put(grant, String(sim.grant));
    ticket.classList.toggle('touched', /\.ticket$/.test(touched));
    grant.classList.toggle('touched', /\.grant$/.test(touched));
    put(collisions, String(sim.collisions));
    put(timeouts, String(sim.timeouts));
    put(steps, String(sim.steps.length));
    const all = [...sim.memory.elements()];
    const cancelled = new Set(
      all.filter(({ state }) => state === 'cancelled').flatMap(({ start, width }) => range(start, width)),
    );
    showTickets(cancelled);
    array.show(
      sim.memory,
      (e) => {
        const owner = all.find(({ index }) => index === e)?.thread ?? 0;
        return owner > 0 ? owner - 1 : undefined;
      },
      touched,
    );
    // Attachments are not waiters: they say which thread uses the semaphore.
    const waiters = all.filter(({ state }) => state !== 'attached');
    elements.replaceChildren(
      ...waiters.map(({ index, state, epoch, thread, start, width, cells }) =>
        h(
          'tr',
          { class: touched.startsWith(`element${index}.`) ? 'touched' : '' },
          h('th', { scope: 'row' }, `e${index}`),
          h('td', {}, thread > 0 ? h('span', { class: `chip t${thread - 1}` }, `T${thread - 1}`) : '–'),
          h('td', {}, state),
          h('td', {}, state === 'reserved' ? '–' : width === 1 ? String(start) : `${start} to ${start + width - 1}`),
          h('td', {}, cells.map((cell) => sim.memory.placeOf(cell)).join('; ') || '–'),
          h('td', {}, String(epoch)),
        ),
      ),
    );
    for (const [t, card] of cards.entries()) showThread(t, card, all);
    const over = sim.isOver;
    next.disabled = over || sim.violation !== undefined;
    back.disabled = sim.steps.length === 0;
    if (sim.violation !== undefined) put(said, `The search reports: ${sim.violation}`);
    else if (over)
      put(
        said,
        `The end, after ${counted(sim.steps.length, 'step')}. Everybody had a turn in order, and no permit is lost.`,
      );
    else {
      const last = sim.steps.at(-1);
      put(said, last === undefined ? 'Nothing has happened yet.' : `T${last.thread}: ${last.what}`);
    }
    if (over) pause();
  }

  function showTickets(cancelled: ReadonlySet<number>): void {
    const sim = simulation;
    const first = Math.max(0, Math.min(sim.ticket, sim.grant) - 12);
    const list: HTMLElement[] = [];
    for (let n = first; n < Math.max(sim.ticket, sim.grant); n++) {
      if (n === sim.grant) list.push(h('li', { class: 'mark-grant', 'aria-label': 'grant' }, 'grant'));
      const owner = sim.owners[n];
      const isLatest = owner !== undefined && sim.owners.lastIndexOf(owner) - n < Math.max(1, sim.held(owner));
      const holds = owner !== undefined && isLatest && sim.held(owner) > 0;
      const is =
        n >= sim.ticket
          ? 'free'
          : cancelled.has(n)
            ? 'cancelled'
            : n >= sim.grant
              ? 'waits'
              : holds
                ? 'holds'
                : isLatest && owner !== undefined && ['sleeps', 'runs'].includes(sim.state(owner)) && sim.wants(owner)
                  ? 'due'
                  : 'done';
      const who = owner === undefined || n >= sim.ticket ? '' : ` t${owner}`;
      list.push(
        h(
          'li',
          { class: `ticket ${is.replace(' ', '-')}${who}` },
          h('b', {}, String(n)),
          h('span', {}, owner === undefined || n >= sim.ticket ? is : `T${owner} ${is}`),
        ),
      );
    }
    if (sim.grant >= Math.max(sim.ticket, sim.grant)) list.push(h('li', { class: 'mark-grant' }, 'grant'));
    tickets.replaceChildren(...list);
  }

  function showThread(t: number, card: Card, all: readonly { index: number; address: number }[]): void {
    const sim = simulation;
    const state = sim.state(t);
    const bed = state === 'sleeps' ? all.find(({ address }) => address === sim.bed(t) - (sim.bed(t) % 64)) : undefined;
    const texts = {
      runs: sim.held(t) > 0 ? `holds ${counted(sim.held(t), 'permit')}` : 'runs',
      sleeps: bed === undefined ? 'sleeps' : `sleeps on e${bed.index}`,
      done: 'has come to its end',
      dead: 'is dead',
      'looks out': 'looks out for deaths',
    };
    put(card.state, texts[state]);
    card.element.dataset.state = state;
    const { texts: ops, at } = sim.program(t);
    card.program.replaceChildren(
      ...ops.map((text, i) => h('li', { class: i < at ? 'past' : i === at ? 'now' : '' }, text)),
    );
    const coming = sim.next(t);
    put(card.next, coming === undefined ? '' : coming.what);
    const buttons = sim.open(t).map((choice) => {
      const text = { step: `Step T${t}`, 'time out': 'Time runs out', kill: 'Kill' }[choice.kind];
      return [choice.kind, text, choice] as const;
    });
    // The buttons are made anew only if they change, so that the button with the focus keeps it.
    const key = buttons.map(([kind]) => kind).join();
    if (card.actions.dataset.key === key) return;
    card.actions.dataset.key = key;
    const focused = card.actions.contains(document.activeElement);
    card.actions.replaceChildren(
      ...buttons.map(([kind, text]) =>
        button(
          text,
          () => {
            pause();
            act(() => simulation.open(t).find((one) => one.kind === kind));
          },
          kind.replace(' ', '-'),
        ),
      ),
    );
    if (focused) (card.actions.querySelector('button') ?? next).focus();
  }

  const stage = h(
    'div',
    {
      class: 'stage',
      onkeydown: (event: Event) => {
        const { key, target } = event as KeyboardEvent;
        if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) return;
        if (key === 'ArrowRight') act(choose);
        else if (key === 'ArrowLeft') goBack();
        else if (key === 'p') toggle();
        else if (/^\d$/.test(key) && Number(key) < simulation.threads)
          act(() => simulation.open(Number(key)).find(({ kind }) => kind === 'step'));
        else return;
        event.preventDefault();
      },
    },
    h(
      'div',
      { class: 'controls' },
      scenario.element,
      h('div', { class: 'group' }, next, back, play, reset),
      speed.element,
    ),
    about,
    h(
      'div',
      { class: 'panel' },
      h(
        'dl',
        { class: 'figures words' },
        ...(
          [
            ['ticket', ticket],
            ['grant', grant],
            ['collisions', collisions],
            ['cancelled', timeouts],
            ['steps', steps],
          ] as const
        ).map(([term, value]) => h('div', {}, h('dt', {}, term), value)),
      ),
      tickets,
    ),
    threads,
    h(
      'div',
      { class: 'pair tables' },
      h('div', { class: 'panel' }, h('h4', {}, 'The waiting array'), h('div', { class: 'scroll' }, array.element)),
      h(
        'div',
        { class: 'panel' },
        h('h4', {}, 'Wait elements'),
        h(
          'div',
          { class: 'scroll' },
          h(
            'table',
            { class: 'elements' },
            h(
              'thead',
              {},
              h(
                'tr',
                {},
                ['', 'of', 'state', 'ticket', 'stands in', 'epoch'].map((text) => h('th', { scope: 'col' }, text)),
              ),
            ),
            elements,
          ),
        ),
      ),
    ),
    h('div', { class: 'panel' }, h('h4', {}, 'What happened'), said, log),
    h(
      'p',
      { class: 'keys' },
      'Keys, with the focus in here: ',
      h('kbd', {}, '→'),
      ' next step, ',
      h('kbd', {}, '←'),
      ' back, ',
      h('kbd', {}, 'p'),
      ' play or pause, ',
      h('kbd', {}, '0'),
      ' to ',
      h('kbd', {}, '3'),
      ' a step of that thread.',
    ),
    h('div', { class: 'controls saves' }, settings.permalink()),
  );
  root.append(stage);
  lay();
  show();
}

function scenarioOf(id: string): (typeof SCENARIOS)[number] {
  return SCENARIOS.find((one) => one.id === id) ?? (SCENARIOS[0] as (typeof SCENARIOS)[number]);
}

function range(start: number, width: number): number[] {
  return Array.from({ length: width }, (_, i) => start + i);
}
