import { expect, it } from 'vitest';
import { createFetchLedger } from './fetch-ledger.js';

it('a block that is fetched again is blamed on the first kill behind the earlier time', () => {
  const ledger = createFetchLedger();
  ledger.note(1, 100);
  ledger.note(2, 110);
  ledger.note(1, 300);
  ledger.note(1, 500);
  expect([ledger.blocks(), ledger.fetches()]).toEqual([2, 4]);
  const kills = [
    { role: 'ingester', at: 50 },
    { role: 'ingester', at: 200 },
    { role: 'postmaster', at: 250 },
    { role: 'supervisor', at: 400 },
  ] as const;
  expect(ledger.blame(kills)).toEqual({ perKill: [0, 1, 0, 1], unexplained: [] });
});

it('a gateway and a packer hold no blocks: nothing is fetched again because of them', () => {
  const ledger = createFetchLedger();
  ledger.note(7, 100);
  ledger.note(7, 300);
  const kills = [
    { role: 'gateway', at: 150 },
    { role: 'packer', at: 200 },
  ] as const;
  expect(ledger.blame(kills)).toEqual({
    perKill: [0, 0],
    unexplained: [{ block: 7, first: 100, again: 300 }],
  });
});
