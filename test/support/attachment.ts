/** Gives tests the attachment of their thread to an arena. Copies of the library share it (src/runtime/common.ts). */
import type { Arena } from 'taketurns';
import { Attachment } from '../../dist/runtime/attachment.js';

export function attachmentOf(arena: Arena): Attachment {
  return Attachment.of(arena.handle.memory as WebAssembly.Memory) as Attachment;
}
