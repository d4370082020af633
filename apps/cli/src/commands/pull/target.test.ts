import { expect, it } from 'vitest';
import { readTarget } from './target.js';

const options = {
  network: 'ethereum',
  kind: 'logs',
  isOne: true,
  schema: 'packhouse',
  out: undefined,
  mirror: undefined,
} as const;
const read = (text: string) => readTarget(text, options);

it('pulls into several tables of Postgres from one folder, each in a folder of its own', () => {
  const works = [
    'postgres://me:secret@db/chain',
    'postgres://me@db/chain?table=usdt',
    'postgres://me@db/other?table=usdt',
  ].map((text) => read(text)?.work);
  expect(new Set(works).size).toBe(3);
  expect(works[0]).toMatch(/^ethereum-logs\.packhouse\/logs-[0-9a-f]{8}$/);
  // The same table again, by another user or password.
  expect(read('postgres://you@db/chain')?.work).toBe(works[0]);
});
