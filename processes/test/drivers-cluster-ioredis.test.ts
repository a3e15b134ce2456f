/** The drivers for ioredis and iovalkey with a cluster. */
import { isNodeRedis, libraries } from './clients.ts';
import { testWithCluster } from './drivers-suite.ts';

testWithCluster(libraries.filter((library) => !isNodeRedis(library)));
