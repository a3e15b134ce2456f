/** Looks at a space, and takes holds away: the commands show, objects and revoke. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ObjectState, Party } from '../objects/handle.js';
import { READERS } from '../session/shared-object.js';
import type { ObjectEntry, Space } from '../space/space.js';
import { type Given, UsageError } from './arguments.js';
import { type Command, commands } from './commands.js';
import { find, joinSpace, lookAt } from './join.js';
import { inLine, json, print } from './output.js';

/** The time between two looks, in milliseconds. */
const AGAIN = 500;
const CLEAR = '\u001b[H\u001b[2J';

const KINDS = { semaphore: 'semaphore', mutex: 'mutex', rwlock: 'read-write lock' } as const;

/** How busy an object is, in words. */
function busy({ kind, max, free, waiting }: ObjectEntry): string {
  const waits = waiting === 0 ? '' : `, ${waiting} wait`;
  return kind === 'semaphore' ? `${max - free} of ${max} held${waits}` : `${free === max ? 'free' : 'held'}${waits}`;
}

const isBusy = ({ free, max, waiting }: ObjectEntry): boolean => free < max || waiting > 0;

/** A party, and the process of its command, if `run` has started one on this machine. */
type Seen = Party & { readonly command?: Command };

/** What a party does, for how long, and who it is. */
function line(does: string, entry: ObjectEntry, { label, permits, since, token, command }: Seen): string {
  const doing = command?.isAlone ? 'has ended; command' : 'command';
  const runs = command ? `; ${doing}: pid ${command.pid}` : '';
  const how =
    entry.kind === 'rwlock' ? (permits === READERS ? ' to write' : ' to read') : permits === 1 ? '' : ` ${permits}`;
  return `  ${`${does}${how}`.padEnd(16)} ${`${(since / 1000).toFixed(1)} s`.padStart(10)}  token ${token}  ${inLine(label)}${runs}`;
}

/** The lines about an object; none if somebody has disposed of it since it was listed. */
async function describe(
  space: Space,
  entry: ObjectEntry,
  asJson: boolean,
  running: ReadonlyMap<string, Command>,
): Promise<string[]> {
  const state: ObjectState | undefined = await (await lookAt(space, entry)).inspect();
  if (!state) return [];
  const { free, waiting, queue } = state;
  const holders = state.holders.map((holder): Seen => {
    const command = running.get(`${holder.token}`);
    return command === undefined ? holder : { ...holder, command };
  });
  if (asJson) {
    const told = holders.map(({ command, ...holder }) => (command ? { ...holder, command: command.pid } : holder));
    return [json({ ...entry, free, waiting, holders: told, queue }).trimEnd()];
  }
  return [
    `${inLine(entry.name)}  ${KINDS[entry.kind]}  ${busy({ ...entry, free, waiting })}`,
    ...holders.map((holder) => line('holds', entry, holder)),
    ...queue.map((waiter) => line('waits', entry, waiter)),
  ];
}

async function look(space: Space, names: readonly string[], asJson: boolean): Promise<string> {
  const lines: string[] = [];
  const running = commands();
  const found = new Set<string>();
  for await (const entry of space.objects()) {
    if (names.length > 0 ? !names.includes(entry.name) : !isBusy(entry)) continue;
    const described = await describe(space, entry, asJson, running);
    if (described.length > 0) found.add(entry.name);
    lines.push(...described);
  }
  for (const name of names) if (!found.has(name) && !asJson) lines.push(`${inLine(name)}  is not known`);
  if (lines.length === 0 && !asJson) lines.push('nobody holds or waits');
  return lines.map((each) => `${each}\n`).join('');
}

export async function show(given: Given): Promise<number> {
  const { words, switches, behind = [] } = given;
  const names = [...words, ...behind];
  const { space } = await joinSpace(given, `show (pid ${process.pid})`);
  try {
    const asJson = switches.has('json');
    const isLive = process.stdout.isTTY && !switches.has('once') && !asJson;
    do {
      const text = await look(space, names, asJson);
      await print(isLive ? `${CLEAR}${text}` : text);
      if (isLive) await sleep(AGAIN);
    } while (isLive);
    return 0;
  } finally {
    await space.close();
  }
}

export async function objects(given: Given): Promise<number> {
  const [word] = [...given.words, ...(given.behind ?? [])];
  if (word !== undefined) throw new UsageError(`objects: takes no names, got ${JSON.stringify(word)}`);
  const { space } = await joinSpace(given);
  try {
    for await (const entry of space.objects()) {
      const { name, kind, robust, ephemeral } = entry;
      const settings = [KINDS[kind], ...(robust ? ['robust'] : []), ...(ephemeral ? ['ephemeral'] : [])];
      const line = `${inLine(name)}  ${settings.join(', ')}  ${busy(entry)}\n`;
      await print(given.switches.has('json') ? json(entry) : line);
    }
    return 0;
  } finally {
    await space.close();
  }
}

export async function revoke(given: Given): Promise<number> {
  const [name, token, ...others] = [...given.words, ...(given.behind ?? [])];
  if (name === undefined || token === undefined || others.length > 0) {
    throw new UsageError('revoke: NAME and TOKEN are needed: revoke NAME TOKEN');
  }
  if (!/^\d+$/.test(token)) throw new UsageError(`revoke: TOKEN must be a number, got ${JSON.stringify(token)}`);
  const { space } = await joinSpace(given);
  try {
    const entry = await find(space, name);
    const handle = entry && (await lookAt(space, entry));
    const holder = (await handle?.inspect(10_000))?.holders.find((each) => `${each.token}` === token);
    if (!handle || !holder || !(await handle.revoke(holder.proof))) {
      console.error(`taketurns-processes: nobody holds ${JSON.stringify(name)} with the token ${token}`);
      return 1;
    }
    await print(`revoked: ${inLine(holder.label)}\n`);
    return 0;
  } finally {
    await space.close();
  }
}
