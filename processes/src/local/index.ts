/** The local form of a space: what `Space.local` loads. */
export { directoryOf } from './directory.js';
export { localDriver } from './driver.js';
