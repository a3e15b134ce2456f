/**
 * A channel at work: threads that send, the ring of places, and threads that receive. Every two seconds the same threads
 * change from the channel to postMessage and back, so the chart has both.
 */
import { within } from '@taketurns/bench/dist/workers/within.js';
import { Channel, number } from 'taketurns/channel';
import { Crew } from '../crew/crew.js';
import { Switch } from '../experiment.js';
import { byId, h, put } from '../ui/dom.js';
import { count, counted, duration } from '../ui/format.js';
import { every } from '../ui/frames.js';
import { Settings } from '../ui/settings.js';
import { Timeline } from '../ui/timeline.js';
import { BY, BY_CHANNEL, BY_POST, boardOf, CHANNEL, POST, STATE, STOP, WAITS, wordOf } from './board.js';
import type { ChannelOrder } from './thread.js';

const PATIENCE_MS = 10_000;
const LOOK_MS = 100;
const BIN_MS = 250;
/** The threads change from the channel to postMessage, and back, after so many bins. The first is not counted. */
const BINS = 8;
const MOST = 4;

interface Run {
  readonly channel: Channel<number>;
  readonly words: Int32Array;
  readonly senders: number;
  readonly receivers: number;
}

/** Rounds n up to 1, 2 or 5 times a power of ten. */
function roundUp(n: number): number {
  const unit = 10 ** Math.floor(Math.log10(n));
  return ([1, 2, 5, 10].find((step) => step * unit >= n) as number) * unit;
}

/** Connects the threads that send with those that receive. Returns the ports of each thread. */
function connect(senders: number, receivers: number): ChannelOrder['ports'][number][][] {
  const ports: ChannelOrder['ports'][number][][] = Array.from({ length: senders + receivers }, () => []);
  for (let k = 0; k < Math.max(senders, receivers); k++) {
    const { port1, port2 } = new MessageChannel();
    const sender = k % senders;
    ports[sender]?.push({ port: port1, sender });
    ports[senders + (k % receivers)]?.push({ port: port2, sender });
  }
  return ports;
}

export function channel(): void {
  const lab = byId('channel-lab');
  const control = new Switch(start);
  const { restart } = control;
  const settings = new Settings('channel');
  const sides = [1, 2, 3, MOST];
  const senders = settings.slider('senders', 'senders', sides, 2, String, changed);
  const receivers = settings.slider('receivers', 'receivers', sides, 2, String, changed);
  const capacity = settings.slider('capacity', 'capacity', [2, 4, 8, 16, 32], 16, String, changed);
  const times = [0, 0.001, 0.01, 1, 10, 100];
  const sending = settings.slider('sending', 'to make one takes', times, 0, duration, restart);
  const receiving = settings.slider('receiving', 'to use one takes', times, 0, duration, restart);
  const figure = (name: string): HTMLElement => h('dd', { 'data-figure': name }, '–');
  const figures = { channel: figure('channel'), post: figure('post'), times: figure('times') };
  const state = h('p', { class: 'said', 'data-figure': 'state' }, 'Nothing runs.');
  const ring = h('ol', { class: 'places', 'aria-label': 'The places of the channel' });
  const left = h('ul', { class: 'ends', 'aria-label': 'Senders' });
  const right = h('ul', { class: 'ends', 'aria-label': 'Receivers' });
  const chart = new Timeline(
    'Messages a second',
    'Messages a second by the channel and by postMessage',
    'the same threads, in turn',
    [
      { name: 'Channel', colour: 'var(--ours)' },
      { name: 'postMessage', colour: 'var(--barging)' },
    ],
    (rate) => ({ least: 0, most: roundUp(Math.max(100, rate)), scale: { tickFormat: count, ticks: 5 } }),
  );
  lay();

  function changed(): void {
    lay();
    restart();
  }

  function lay(): void {
    const threads = (name: string, length: number, first: number): HTMLElement[] =>
      Array.from({ length }, (_, i) =>
        h('li', {}, h('span', { class: `chip t${first + i}` }, `${name}${i}`), ' ', h('span', {}, '–')),
      );
    left.replaceChildren(...threads('S', senders.value, 0));
    right.replaceChildren(...threads('R', receivers.value, senders.value));
    ring.replaceChildren(...Array.from({ length: capacity.value }, () => h('li')));
  }

  async function start(): Promise<() => Promise<void>> {
    const run: Run = {
      channel: new Channel({ codec: number, capacity: capacity.value }),
      words: boardOf(senders.value + receivers.value),
      senders: senders.value,
      receivers: receivers.value,
    };
    const { words } = run;
    const crew = await Crew.hire(run.senders + run.receivers);
    const ports = connect(run.senders, run.receivers);
    const { handle } = run.channel;
    Atomics.store(words, BY, CHANNEL);
    try {
      const ordered = crew.order(
        (thread) => {
          const sends = thread < run.senders;
          const work = sends ? sending.value : receiving.value;
          return { job: 'channel', sends, thread, channel: handle, ports: ports[thread] ?? [], words, work };
        },
        (thread) => (ports[thread] ?? []).map(({ port }) => port),
      );
      await within(ordered, PATIENCE_MS, 'the threads did not start');
    } catch (error) {
      crew.dismiss();
      run.channel.dispose();
      throw error;
    }
    const done = crew.done();
    done.catch((error) => put(control.status, String(error)));
    chart.clear();
    for (const one of Object.values(figures)) put(one, '–');
    const rates = [0, 0];
    let [bin, then, before] = [0, performance.now(), received(run)];
    const ends = [
      every(LOOK_MS, lab, () => look(run)),
      every(BIN_MS, lab, (now) => {
        const series = Atomics.load(words, BY) === CHANNEL ? 0 : 1;
        const after = received(run);
        const rate = (((after[series] as number) - (before[series] as number)) * 1000) / (now - then);
        // In the first bin the threads change over.
        if (bin > 0) {
          chart.add(series, now, rate);
          rates[series] = rate;
          tell(rates);
        }
        [then, before] = [now, after];
        if (++bin === BINS) {
          bin = 0;
          Atomics.store(words, BY, series === 0 ? POST : CHANNEL);
          Atomics.notify(words, BY);
        }
        chart.draw(now);
      }),
    ];
    return async () => {
      for (const end of ends) end();
      Atomics.store(words, BY, STOP);
      Atomics.notify(words, BY);
      run.channel.close();
      try {
        await within(done, PATIENCE_MS, 'the threads did not stop');
      } finally {
        crew.dismiss();
        run.channel.dispose();
        lay();
        put(state, 'Nothing runs.');
      }
    };
  }

  function tell([byChannel = 0, byPost = 0]: readonly number[]): void {
    put(figures.channel, count(byChannel));
    put(figures.post, count(byPost));
    put(figures.times, byChannel > 0 && byPost > 0 ? (byChannel / byPost).toFixed(1) : '–');
  }

  /** How many messages the receivers have got, by the channel and by postMessage. */
  function received({ words, senders, receivers }: Run): number[] {
    return [BY_CHANNEL, BY_POST].map((word) => {
      let sum = 0;
      for (let i = 0; i < receivers; i++) sum += Atomics.load(words, wordOf(senders + i, word));
      return sum;
    });
  }

  function look(run: Run): void {
    const { channel, words, senders } = run;
    const by = Atomics.load(words, BY) === CHANNEL ? 'the channel' : 'postMessage';
    const { size, capacity, senders: s, receivers: r } = channel.inspect();
    const waiting = `${counted(s.waiting, 'sender')} and ${counted(r.waiting, 'receiver')} in line`;
    put(state, `Now by ${by}: ${size} of ${capacity} places are full, ${waiting}.`);
    const [first = 0] = received(run);
    for (const [i, place] of [...ring.children].entries())
      place.classList.toggle('full', (i - (first % capacity) + capacity) % capacity < size);
    for (const [t, line] of [...left.children, ...right.children].entries()) {
      const waits = Atomics.load(words, wordOf(t, STATE)) === WAITS;
      const total = Atomics.load(words, wordOf(t, BY_CHANNEL)) + Atomics.load(words, wordOf(t, BY_POST));
      const verb = t < senders ? 'sent' : 'received';
      put(line.lastChild as HTMLElement, `${waits ? 'waits' : 'works'}, ${count(total)} ${verb}`);
      line.classList.toggle('waits', waits);
    }
  }

  lab.append(
    h(
      'div',
      { class: 'stage' },
      h(
        'div',
        { class: 'controls' },
        control.button,
        [senders, receivers, capacity, sending, receiving].map(({ element }) => element),
      ),
      control.status,
      state,
      h('div', { class: 'flow' }, left, ring, right),
      h(
        'div',
        { class: 'pair' },
        chart.element,
        h(
          'div',
          { class: 'panel' },
          h('h4', {}, 'Messages a second'),
          h(
            'dl',
            { class: 'figures' },
            h('div', {}, h('dt', {}, 'by the channel'), figures.channel),
            h('div', {}, h('dt', {}, 'by postMessage'), figures.post),
            h('div', {}, h('dt', {}, 'times postMessage'), figures.times),
          ),
          h(
            'p',
            { class: 'about' },
            'Every two seconds the same threads change from one to the other. With postMessage a sender has at most 1,024 ' +
              'messages under way. Both receive one message at a time.',
          ),
        ),
      ),
      h('div', { class: 'controls saves' }, settings.permalink()),
    ),
  );
}
