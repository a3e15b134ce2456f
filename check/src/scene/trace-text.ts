/** Writes the texts of a trace: the names of addresses, the meanings of values, and accesses. */
import type { Machine } from '../engine/machine/machine.js';
import { meaningOf, nameOf } from './layout.js';
import type { Arena } from './set-up.js';

/** Names the word at an address. */
export function nameAt({ regions }: Arena, address: number): string {
  return nameOf(address, regions);
}

/** Renders the value of a word by its meaning. */
export function valueAt({ machine, regions }: Arena, address: number, bytes: number): string {
  const lo = BigInt(machine.words[address >> 2]);
  const hi = BigInt(machine.words[(address >> 2) + 1]);
  return meaningOf(bytes === 8 ? (hi << 32n) | BigInt.asUintN(32, lo) : lo, address, regions);
}

/** Names the op of the program in which a thread is, and then the functions in which it is. */
export function whereIs(machine: Machine, t: number, op = 'end'): string {
  return [op, ...machine.frames(t)].join(' > ');
}

/** Describes the pending access of the core. */
export function accessText(arena: Arena, t: number): string {
  const { kind, op, address, bytes, plain } = arena.machine.describe(t);
  return `${plain ? 'plain ' : ''}${kind === 'rmw' ? op : kind} ${nameAt(arena, address)}: ${valueAt(arena, address, bytes)}`;
}

/** Describes the pending access that the library makes without the core; `kind` is one of HOST_* (scene.ts). */
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
