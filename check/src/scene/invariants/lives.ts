/**
 * The invariants of lives: the next owner of a thread's record, or of an object, has another life. At the end every
 * dead thread's record is free again, and every reference to an object has its record.
 */
import { Violation } from '../../engine/search/violation.js';
import * as layout from '../layout.js';
import { type Arena, objectIn, recordOf } from '../set-up.js';
import { nameAt } from '../trace-text.js';

const { ATTACHED, E_HELD, ELEMENT_SIZE, FREE, LIFE_STATE, O_LIFE, OBJECT_SIZE, REAPER } = layout;
const { STATE_MASK, THREAD_SIZE } = layout;
const O_NAME = layout.constant('O_NAME');
const N_NEXT = layout.constant('N_NEXT');
/** The bit of a link whose entry is being taken out. */
const GONE = 1;
const T_RUNTIME_ID = layout.constant('T_RUNTIME_ID');

/** The states of an object's life (core/arena/objects.ts). */
const BUILDING = 1;
const REFERENCES = layout.KEPT - 1;
/** A live object to which one thread is attached, and the same when it is closed. */
const OF_ONE = (2 << 24) + 1;
const CLOSED_BY_LAST = (3 << 24) + 1;

/** Returns the life in a thread's record. */
export function lifeOf(arena: Arena, t: number): number {
  return arena.machine.words[recordOf(arena, t) >> 2];
}

/** Checks a write to a thread's record: its next owner has another life. */
export function checkRecord(arena: Arena, record: number, before: number, after: number): void {
  const moved = (after >>> 2) - (before >>> 2);
  if (moved !== Number((after & LIFE_STATE) === FREE))
    throw new Violation(`${nameAt(arena, record)} goes from 0x${before.toString(16)} to 0x${after.toString(16)}`);
}

/**
 * Checks a write to an object: a freed object has the next generation, and no name. So has an object that is closed by
 * the last thread that detaches, because this thread may make it live again under another name. `lo` and `hi` are the
 * word before the write.
 */
export function checkGeneration(arena: Arena, address: number, lo: number, hi: number): void {
  const { machine, regions } = arena;
  if ((address - regions.objects) % OBJECT_SIZE !== O_LIFE || address >= regions.names) return;
  const freed = machine.words[address >> 2] >>> 24 === 0 && lo >>> 24 !== 0;
  const moved = (machine.words[(address >> 2) + 1] - hi) | 0;
  const closed = machine.words[address >> 2] === CLOSED_BY_LAST && lo === OF_ONE;
  if (moved !== Number(freed) && !(closed && moved === 1))
    throw new Violation(`the generation of ${nameAt(arena, address)} was ${hi}`);
  const head = machine.words[(address - O_LIFE + O_NAME) >> 2];
  if (freed && head !== 0) checkNameless(arena, address - O_LIFE, head);
}

/** Checks that the entry of a free object is not in the list of its last name (core/arena/names.ts). */
function checkNameless({ machine: { words }, regions }: Arena, object: number, head: number): void {
  let entry = words[head >> 2];
  for (; entry !== 0; entry = words[(entry + N_NEXT) >> 2] & ~GONE)
    if (entry - regions.names === object - regions.objects) throw new Violation('a free object has a name');
}

/** Checks, at the end, that no free record has a runtime id. If a thread reaps the dead, no record may say that it reaps. */
export function checkRecords(arena: Arena, supervised: boolean): void {
  const { words } = arena.machine;
  const { threads, chains } = arena.regions;
  for (let record = threads; record < chains; record += THREAD_SIZE) {
    if ((words[record >> 2] & LIFE_STATE) === FREE && words[(record + T_RUNTIME_ID) >> 2] !== 0)
      throw new Violation(`${nameAt(arena, record)} is free, and has a runtime id`);
  }
  if (words[REAPER >> 2] !== 0 && supervised) throw new Violation('somebody is still said to reap at the end');
}

/**
 * Checks, at the end, that every reference to an object has its record, and that no object is half made. Calls `each`
 * for each object, with the permits that are held according to its records.
 */
export function checkReferences(arena: Arena, each: (object: number, held: number) => void): void {
  const { words } = arena.machine;
  const { objects, names, elements, end } = arena.regions;
  const found = new Map<number, { records: number; held: number }>();
  for (let e = elements; e < end; e += ELEMENT_SIZE) {
    if ((words[e >> 2] & STATE_MASK) !== ATTACHED) continue;
    const { records, held } = found.get(objectIn(arena, e)) ?? { records: 0, held: 0 };
    found.set(objectIn(arena, e), { records: records + 1, held: held + words[(e + E_HELD) >> 2] });
  }
  for (let o = objects; o < names; o += OBJECT_SIZE) {
    const life = words[(o + O_LIFE) >> 2];
    const { records, held } = found.get(o) ?? { records: 0, held: 0 };
    if (life >>> 24 === BUILDING) throw new Violation(`${nameAt(arena, o)} is still being made`);
    if ((life & REFERENCES) !== records)
      throw new Violation(`${nameAt(arena, o)} has ${life & REFERENCES} references, and ${records} records of them`);
    each(o, held);
  }
}
