import { tests } from './shared.js';

tests(globalThis);
