/**
 * These are the questions that the queue asks about the kind of an object. kinds/kinds.ts answers them, with a table of
 * the answers. So only this file and kinds.ts lead from the queue to the kinds, and the other files of the queue name no
 * kind. The kinds are built on the queue, so this is the one circle of imports of the core.
 */
export {
  abandonHead,
  abandonRequest,
  admitted,
  cancelled,
  cancelledByDeath,
  countWaiter,
  finishUnlock,
  hasHead,
  mayQueue,
  threadBegins,
  threadEnds,
} from '../kinds/kinds';
