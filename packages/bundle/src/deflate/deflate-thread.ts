import { parentPort } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import { openDeflateKernel } from '@packhouse/kernels';
import { ITEM_SEED } from '../filter/item-set.js';
import type { Answer, Order } from './deflate-threads.js';

// The program of a thread: it answers each order, in their order.
const kernel = openDeflateKernel();
parentPort?.on('message', ({ text, kind, deflate }: Order) => {
  kernel.take(text);
  const answer: Answer = { text };
  if (deflate) answer.piece = { body: kernel.deflate(), crc32: crc32(text) };
  const items = kind === undefined ? null : kernel.items(kind, ITEM_SEED);
  if (items !== null) answer.items = items;
  const moved = [text.buffer, answer.piece?.body.buffer, items?.buffer];
  parentPort?.postMessage(
    answer,
    moved.filter((buffer) => buffer !== undefined),
  );
});
