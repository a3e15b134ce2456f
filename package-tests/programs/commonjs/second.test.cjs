require('./first.test.cjs');
