/** Builds the native rows before the first test, since several tests want them at once. */
import { buildNative } from '../src/native.js';

export async function setup(): Promise<void> {
  await buildNative();
}
