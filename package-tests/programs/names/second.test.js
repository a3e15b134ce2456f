import both from './both.js';

both();
