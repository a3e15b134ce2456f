/** Acquires with a guard and keeps the guard. Returns whether the guard reports a dead owner. */
import { attach } from '../attach.mjs';

const guards = [];

export default async function holdAndTell({ handle, args = [], how = 'hold' }) {
  const guard = await attach(handle)[how](...args);
  guards.push(guard);
  return guard.ownerDied;
}
