/** The drivers for ioredis and iovalkey with one server. */
import { isNodeRedis, libraries } from './clients.ts';
import { testWithOneServer } from './drivers-suite.ts';

testWithOneServer(libraries.filter((library) => !isNodeRedis(library)));
