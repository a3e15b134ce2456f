/** The words of a trace: what an address, a value and an access are, for those who read one. */
import type { Machine } from '../engine/machine/machine.js';
import { meaningOf, nameOf } from './layout.js';
import type { Arena } from './set-up.js';

/** The word at an address. */
export function nameAt({ regions }: Arena, address: number): string {
  return nameOf(address, regions);
}

/** The value of a word, as its meaning. */
export function valueAt({ machine, regions }: Arena, address: number, bytes: number): string {
  const lo = BigInt(machine.words[address >> 2]);
  const hi = BigInt(machine.words[(address >> 2) + 1]);
  return meaningOf(bytes === 8 ? (hi << 32n) | BigInt.asUintN(32, lo) : lo, address, regions);
}

/** Where a thread is: in which op of its program, and in which functions. */
export function whereIs(machine: Machine, t: number, op = 'end'): string {
  return [op, ...machine.frames(t)].join(' > ');
}

/** The access of the core that is pending. */
export function accessText(arena: Arena, t: number): string {
  const { kind, op, address, bytes, plain } = arena.machine.describe(t);
  return `${plain ? 'plain ' : ''}${kind === 'rmw' ? op : kind} ${nameAt(arena, address)}: ${valueAt(arena, address, bytes)}`;
}

/** The access of the library's own that is pending; `kind` is one of HOST_* (scene.ts). */
export function hostText(arena: Arena, kind: number, address: number, value: number): string {
  const name = nameAt(arena, address);
  const now = arena.machine.words[address >> 2];
  return [
    `load ${name} = ${now}`,
    `wait ${name} == ${value}`,
    `store ${name}: ${value}`,
    `cmpxchg ${name}: ${now}`,
    `exchange ${name}: ${now}`,
  ][kind - 1] as string;
}
