/** Channel: a message is one that was sent, and nobody waits in the end. channel-chaos.mjs counts every message. */
import { Channel, number, receiving, select, selectAsync, sending } from 'taketurns/channel';
import { kindOf, MOST, someValue } from './parts/ends.mjs';

const options = ({ capacity }, arena) => ({ codec: number, capacity, arena });
const selects = { select, selectAsync };

const channel = kindOf({
  brings: 'send',
  waits: (_, lib, async, within) => ({ name: `receive${async}`, call: () => lib[`receive${async}`](within) }),
  queues: ['senders', 'receivers'],

  /** Receives from this channel, or sends to another one of the program or to the same one. */
  both(task, lib, async, within) {
    const { draw, life } = task;
    const other = draw.of(life.objects.filter(({ kind }) => kind === channel));
    const name = `select${async}`;
    const call = () => {
      const cases = [receiving(lib), sending(draw.chance(0.2) ? lib : other.lib, someValue(draw))];
      const isSecond = draw.chance(0.5);
      const done = selects[name](isSecond ? cases.reverse() : cases, within);
      const messages = ({ index, value }) => (index === Number(isSecond) ? [value] : []);
      return async === '' ? messages(done) : done.then(messages);
    };
    return { name, call };
  },

  check(task, object, got) {
    for (const message of [got].flat())
      if (!(message >= 1 && message <= MOST)) task.life.find(`${object.what}: message ${message} was not sent`);
  },

  tries(task, { what, lib }) {
    if (task.draw.chance(0.5)) lib.trySend(someValue(task.draw));
    else {
      const message = lib.tryReceive();
      if (message !== undefined) channel.check(task, { what }, message.value);
    }
  },

  shape: (draw) => ({ capacity: draw.of([1, 4, 64]) }),
  mortal: {
    make: (name, arena) =>
      name ? Channel.open(name, options({ capacity: 2 }, arena)) : new Channel(options({ capacity: 2 }, arena)),
    calls: (lib, within) => [
      () => lib.send(1, within),
      () => lib.receive(within),
      () => lib.sendAsync(1, within),
      () => lib.receiveAsync(within),
      () => lib.tryReceive(),
      () => select([receiving(lib), sending(lib, 1)], within),
      () => selectAsync([sending(lib, 1), receiving(lib)], within),
    ],
  },
  make: (o, arena) => (o.name ? Channel.open(o.name, options(o, arena)) : new Channel(options(o, arena))),
  open: (o, arena) => Channel.open(o.name, options(o, arena)),
  from: (handle) => Channel.from(handle, number),
  look: (lib) => [lib.size, lib.closed, lib.capacity],

  /** Sends if somebody waits for a message, and receives if somebody waits for a place. */
  feed(_program, _object, lib) {
    const { senders, receivers } = lib.inspect();
    for (let i = receivers.waiting; i > 0; i--) lib.trySend(1);
    for (let i = senders.waiting; i > 0; i--) lib.tryReceive();
  },
});

export const kinds = { channel };
