/**
 * Hangs until its standard input ends: the main thread has locked the mutex already, and waits for it by a promise.
 */
import { Mutex } from 'taketurns';

const accounts = Mutex.open('accounts');
accounts.lock();
accounts.lockAsync();
process.stdin.resume().on('end', () => process.exit());
