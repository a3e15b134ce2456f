/** The line for a test runner whose files of tests find objects by name: the main thread runs this file. */
import 'taketurns/share';

export default { test: { globals: true, include: ['names/*.test.js'] } };
