import { tests } from './shared.js';

tests(import.meta.jest ?? globalThis.vi);
