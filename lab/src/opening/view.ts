/**
 * The opening: two lanes, barging and fair, that play a recorded run in slow motion. The ticket of a thread that waits
 * stands in the line, in the order of arrival. The ticket of a thread that is served stands at the windows of its
 * permits. A ticket glides to its place, and hops where it passes others. The strip below each lane shows the whole
 * recording, and a slider chooses a moment.
 *
 * The recording plays while it is on the screen and no experiment runs. It is paused at first for readers who prefer
 * reduced motion or who follow a link to a moment.
 */
import { onBegin } from '../experiment.js';
import { byId, h, put } from '../ui/dom.js';
import { duration, whole } from '../ui/format.js';
import { watchScreen } from '../ui/frames.js';
import { fromAddress, inAddress, Settings } from '../ui/settings.js';
import { type Moment, Recording, RUN, type Side, VICTIM, widthOf } from './recording.js';

/** How fast a ticket glides: in this time it goes two thirds of the way to its place. */
const GLIDE_MS = 70;
/** The time between two changes of the figures. */
const TELL_MS = 100;
const SLOWER = [5, 10, 20, 40] as const;
/** The moment that is shown first to readers who prefer reduced motion. */
const STILL_MS = 2400;
/** In widths of a window: the gap between windows, the space from the windows to the line, and the height of a hop. */
const [GAP, AISLE, HOP] = [0.08, 0.7, 0.42];
const UNITS = RUN.permits + AISLE + (RUN.threads.length - 2 + RUN.permits) * (1 + GAP);

interface Ticket {
  readonly element: HTMLElement;
  readonly number: HTMLElement;
  x: number;
  y: number;
  turns: number;
}

class Lane {
  readonly element: HTMLElement;
  readonly #recording: Recording;
  readonly #tickets: readonly Ticket[];
  readonly #floor = h('div', { class: 'floor' });
  readonly #strip: HTMLElement;
  readonly #figures = { waits: h('b'), passed: h('b'), turns: h('b') };

  constructor(side: Side, name: string) {
    this.#recording = new Recording(side);
    const windows = Array.from({ length: RUN.permits }, (_, i) => {
      const element = h('i', { class: 'window' });
      element.style.setProperty('--x', String(i * (1 + GAP)));
      return element;
    });
    this.#tickets = RUN.threads.map((name, thread) => {
      const number = h('span');
      const label = thread === VICTIM ? 'needs all 3' : (name.split(' ')[1] ?? name);
      const element = h('div', { class: thread === VICTIM ? 'piece victim' : 'piece' }, h('b', {}, label), number);
      element.style.setProperty('--w', String(widthOf(thread) * (1 + GAP) - GAP));
      return { element, number, x: Number.NaN, y: 0, turns: 0 };
    });
    const line = h('small', {}, 'the line, in order of arrival');
    line.style.setProperty('--x', String(RUN.permits * (1 + GAP) + AISLE));
    this.#floor.append(
      h('small', {}, `the ${RUN.permits} permits`),
      line,
      ...windows,
      ...this.#tickets.map(({ element }) => element),
    );
    this.#floor.style.setProperty('--units', String(UNITS));
    this.#strip = strip(this.#recording);
    const figure = (value: HTMLElement, text: string): HTMLElement => h('span', {}, value, ` ${text}`);
    this.element = h(
      'div',
      { class: `race ${side}`, 'data-race': side },
      h('p', { class: 'race-name' }, name),
      h(
        'p',
        { class: 'tally' },
        h('span', {}, 'the big job: '),
        figure(this.#figures.waits, 'longest wait'),
        figure(this.#figures.passed, 'times overtaken'),
        figure(this.#figures.turns, 'turns had'),
      ),
      this.#floor,
      this.#strip,
    );
  }

  /** Shows a moment. `part` is the part of the way to their places that the tickets go: with 1 they arrive. */
  show(time: number, part: number, tells: boolean): void {
    const moment = this.#recording.at(time);
    for (const [thread, ticket] of this.#tickets.entries()) this.#move(ticket, moment, thread, part);
    this.#strip.style.setProperty('--played', `${((100 * time) / RUN.length).toFixed(2)}%`);
    if (!tells) return;
    const { longest, mostOvertaken, turns } = moment;
    put(this.#figures.waits, duration(longest));
    put(this.#figures.passed, whole(mostOvertaken));
    put(this.#figures.turns, whole(turns[VICTIM] ?? 0));
  }

  #move(ticket: Ticket, { places, turns }: Moment, thread: number, part: number): void {
    const place = places[thread];
    if (place === undefined) return;
    const serves = 'window' in place;
    const x = serves ? place.window * (1 + GAP) : RUN.permits * (1 + GAP) + AISLE + place.inLine * (1 + GAP);
    const before = ticket.x;
    if (part === 1 || Number.isNaN(before)) [ticket.x, ticket.y] = [x, 0];
    else {
      ticket.x += (x - before) * part;
      // A ticket that goes forward passes above those in the line. A ticket that comes back passes below them.
      const far = Math.min(1, Math.abs(x - ticket.x));
      const top = (x < before ? -HOP : HOP) * far;
      ticket.y += (top - ticket.y) * part;
      // The ticket of a thread that takes its permit again without leaving the window hops in place.
      if (serves && turns[thread] !== ticket.turns && far < 0.3) ticket.y = -HOP;
    }
    if (ticket.turns !== turns[thread]) {
      ticket.turns = turns[thread] ?? 0;
      put(ticket.number, `turn ${ticket.turns}`);
    }
    ticket.element.classList.toggle('served', serves);
    ticket.element.style.setProperty('--x', ticket.x.toFixed(3));
    ticket.element.style.setProperty('--y', ticket.y.toFixed(3));
  }
}

/** Draws all turns of the recording: time runs to the right, and each window has a row. */
function strip(recording: Recording): HTMLElement {
  const SVG = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', `0 0 ${RUN.length} ${RUN.permits}`);
  svg.setAttribute('preserveAspectRatio', 'none');
  for (const isVictim of [false, true]) {
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('class', isVictim ? 'victim' : 'others');
    const blocks = recording.turns
      .filter(({ thread }) => (thread === VICTIM) === isVictim)
      .map(({ thread, window, admitted, released }) => {
        const [from, to] = [Math.max(0, admitted), Math.min(RUN.length, released)];
        const height = widthOf(thread) - 0.18;
        return from < to ? `M${from} ${window + 0.09}H${Math.max(from, to - 1)}v${height}H${from}Z` : '';
      });
    path.setAttribute('d', blocks.join(''));
    svg.append(path);
  }
  return h('div', { class: 'strip', 'aria-hidden': true }, svg);
}

export function opening(): void {
  const prefersStill = matchMedia('(prefers-reduced-motion: reduce)');
  const lanes = [new Lane('barging', 'A barging semaphore'), new Lane('ours', 'A taketurns Semaphore')];
  const root = byId('opening-lab');
  const settings = new Settings('opening');
  const asked = Number(fromAddress('opening.at'));
  const isAsked = fromAddress('opening.at') !== undefined && asked >= 0 && 1000 * asked <= RUN.length;
  let time = isAsked ? 1000 * asked : prefersStill.matches ? STILL_MS : 0;
  // A link to a moment shows that moment.
  let isPlaying = !prefersStill.matches && !isAsked;
  let isSeen = false;
  let frame = 0;
  let before = 0;
  let told = 0;

  inAddress('opening.at', { initial: '', read: () => (isPlaying ? '' : (time / 1000).toFixed(2)) });
  const slower = settings.select(
    'slower',
    'slower by',
    [20, 5, 10, 40].sort(byUse).map((n) => [String(n), `${n} times`] as const),
  );
  const play = h('button', { type: 'button', class: 'primary', onclick: () => (isPlaying ? pause() : go()) });
  const moment = h('input', {
    type: 'range',
    min: '0',
    max: String(RUN.length),
    step: '10',
    'aria-label': 'moment of the recording',
    oninput: () => {
      time = Number(moment.value);
      show(1, true);
      pause();
    },
  });

  function byUse(a: number, b: number): number {
    return Number(b === 20) - Number(a === 20) || SLOWER.indexOf(a as 5) - SLOWER.indexOf(b as 5);
  }

  function show(part: number, tells: boolean): void {
    for (const lane of lanes) lane.show(time, part, tells);
    if (!tells) return;
    moment.value = String(time);
    moment.setAttribute('aria-valuetext', `${(time / 1000).toFixed(2)} of ${RUN.length / 1000} seconds`);
  }

  function step(now: number): void {
    frame = requestAnimationFrame(step);
    // After a gap between frames, as on a hidden page, the recording goes on from where it was.
    const passed = Math.min(100, now - before);
    before = now;
    time += passed / Number(slower.value);
    const again = time >= RUN.length;
    if (again) time = 0;
    const tells = again || now - told >= TELL_MS;
    if (tells) told = now;
    show(again ? 1 : 1 - Math.exp(-passed / GLIDE_MS), tells);
  }

  function run(): void {
    cancelAnimationFrame(frame);
    if (!isPlaying || !isSeen) return;
    before = performance.now();
    frame = requestAnimationFrame(step);
  }

  function go(): void {
    isPlaying = true;
    put(play, 'Pause');
    run();
    settings.changed();
  }

  function pause(): void {
    isPlaying = false;
    put(play, 'Play');
    run();
    settings.changed();
  }

  onBegin(pause);
  prefersStill.addEventListener('change', () => prefersStill.matches && pause());
  watchScreen(root, (seen) => {
    isSeen = seen;
    run();
  });
  put(play, isPlaying ? 'Pause' : 'Play');
  const { browser, processor, processors, date, hold, permits } = RUN;
  root.append(
    h(
      'div',
      { class: 'lanes-of-race' },
      lanes.map(({ element }) => element),
    ),
    h(
      'div',
      { class: 'controls playback' },
      play,
      h('label', { class: 'control wide' }, h('span', {}, 'moment'), moment),
      slower.element,
      settings.permalink('Link to this moment'),
    ),
    h(
      'p',
      { class: 'legend' },
      h('span', {}, h('i', { class: 'key victim' }), 'the big job, which needs all three permits at once'),
      h('span', {}, h('i', { class: 'key others' }), 'four small ones, which need one each'),
    ),
    h(
      'p',
      { class: 'source' },
      `A recording of a real run, not a drawing: ${permits} permits, turns of about ${hold} ms, ${RUN.length / 1000} seconds of it; `,
      `${browser}, ${processors} processors (${processor}), ${date}. `,
      h('a', { href: '#starvation' }, 'Run it in this browser'),
    ),
  );
  show(1, true);
}
