/** The driver for node-redis with one server. */
import { isNodeRedis, libraries } from './clients.ts';
import { testWithOneServer } from './drivers-suite.ts';

testWithOneServer(libraries.filter((library) => isNodeRedis(library)));
