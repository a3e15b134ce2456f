/** Channel: a message is one that was sent, and nobody waits in the end. channel-chaos.mjs counts every message. */
import { Channel, number } from 'taketurns/channel';

/** Messages are from 1 to this number. */
const MOST = 1e6;

const options = ({ capacity }, arena) => ({ codec: number, capacity, arena });

function check(task, object, got) {
  for (const message of got === undefined ? [] : [got.value].flat())
    if (!(message >= 1 && message <= MOST) && !task.life.gone)
      task.life.find(`${object.what}: message ${message} was not sent`);
}

function tries(task, object) {
  const { draw } = task;
  task.give('try', object, () => {
    if (draw.chance(0.5)) object.lib.trySend(1 + draw.upTo(MOST - 1));
    else check(task, object, object.lib.tryReceive());
  });
}

const channel = {
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
    ],
  },
  make: (o, arena) => (o.name ? Channel.open(o.name, options(o, arena)) : new Channel(options(o, arena))),
  open: (o, arena) => Channel.open(o.name, options(o, arena)),
  from: (handle) => Channel.from(handle, number),

  async use(task, object) {
    const { draw } = task;
    const what = draw.next();
    if (what < 0.2) return tries(task, object);
    const request = task.request(object, false);
    const lib = task.life.at(object, draw);
    if (what < 0.6)
      await task.attempt('sendAsync', object, request, () => lib.sendAsync(1 + draw.upTo(MOST - 1), request.options));
    else
      check(task, object, await task.attempt('receiveAsync', object, request, () => lib.receiveAsync(request.options)));
  },

  useSync(task, object) {
    const { draw } = task;
    const what = draw.next();
    if (what < 0.2) return tries(task, object);
    const request = task.request(object, true);
    const lib = task.life.at(object, draw);
    if (what < 0.6) task.attemptSync('send', object, request, () => lib.send(1 + draw.upTo(MOST - 1), request.options));
    else
      check(
        task,
        object,
        task.attemptSync('receive', object, request, () => lib.receive(request.options)),
      );
  },

  look: (lib) => [lib.size, lib.closed, lib.capacity],

  /** Sends if somebody waits for a message, and receives if somebody waits for a place. */
  feed(_program, _object, lib) {
    const { senders, receivers } = lib.inspect();
    for (let i = receivers.waiting; i > 0; i--) lib.trySend(1);
    for (let i = senders.waiting; i > 0; i--) lib.tryReceive();
  },

  wrong(_context, _object, lib) {
    const { senders, receivers } = lib.inspect();
    if (senders.waiting + receivers.waiting > 0) return `nobody is there, and it says ${JSON.stringify(lib.inspect())}`;
    return undefined;
  },
};

export const kinds = { channel };
