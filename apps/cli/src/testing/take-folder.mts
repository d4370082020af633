import { isPackhouseError } from '@packhouse/runtime';
import { openDataDirectory } from '../installation/data-directory.js';

// Started by a test: one word when the folder is taken or refused, then nothing until stdin ends. Several are started
// at once, and none begins before its whole second.
const now = Date.now();
const wait = Math.ceil((now + 1_500) / 1_000) * 1_000 - now;
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, wait);
try {
  const opened = openDataDirectory(process.argv[2] as string, process.pid);
  process.stdout.write('taken\n');
  process.stdin.on('end', () => opened.close()).resume();
} catch (error) {
  process.stdout.write(isPackhouseError(error) ? `${error.code}\n` : `${String(error)}\n`);
  process.stdin.resume();
}
