/**
 * The exports of the module of `taketurns/channel`. Like the module of the algorithms, this module contains the parts of
 * the core that it needs, and a thread has an instance of it over the memory of the arena. The instance shares the
 * pending call with the core, so a pass of places is a release that the core finishes. A thread first registers through
 * the core, and then calls adopt here.
 */
export { recordOf } from '../arena/attachments';
export { adopt, sleepOn, trapIfDead } from '../arena/threads';
export {
  abandon,
  agree,
  beginSending,
  claim,
  given,
  leaveSenders,
  link,
  pass,
  pollFor,
  sendWord,
  takeUntold,
  takeWord,
  tryClaim,
} from '../kinds/channel/channel';
export { close, finishClose } from '../kinds/channel/ends';
export { claimPages, freePages, pageCount } from '../kinds/channel/pages';
export { beginSet, closeWatch, isWhole, publish, tell, told } from '../kinds/channel/watch';
export { settleUp } from '../kinds/condition/condition';
export { setAwake } from '../queue/polling';
