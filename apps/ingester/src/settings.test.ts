import { expect, it } from 'vitest';
import { heldBytes } from './settings.js';

it('holds 64 MiB of answers, or an eighth of the heap where that is less', () => {
  const mebibytes = (heap: number) => heldBytes(heap * 1_048_576) / 1_048_576;
  expect([4_144, 256, 160, 64].map(mebibytes)).toEqual([64, 32, 20, 8]);
});
