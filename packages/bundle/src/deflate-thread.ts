import { parentPort } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import { openKernel } from './deflate-kernel.js';
import type { DeflatedText } from './deflate-threads.js';

// The program of a thread: it answers each text with its piece, in their order.
const kernel = openKernel();
parentPort?.on('message', (text: Uint8Array<ArrayBuffer>) => {
  const deflated: DeflatedText = { body: kernel(text), crc32: crc32(text), text };
  parentPort?.postMessage(deflated, [deflated.body.buffer, text.buffer]);
});
