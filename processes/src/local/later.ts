/**
 * What only the process that serves needs, so that the others join without it: the broker, and the program of its thread.
 * drivers/load.ts says what `eager` is for.
 */

export const toServe = () => import(/* webpackMode: "eager" */ './serve.js');
export const ofThread = () => import(/* webpackMode: "eager" */ './thread-source.js');

/**
 * Loads all of it. A process that takes over later, or starts a thread, must not find files of another version because
 * the package was replaced meanwhile.
 */
export const prepare = (): void => {
  // If a file cannot be loaded, whoever needs it hears of that.
  Promise.all([toServe(), ofThread()]).catch(() => {});
};
