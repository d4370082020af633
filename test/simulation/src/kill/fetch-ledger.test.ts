import { expect, it } from 'vitest';
import { createFetchLedger } from './fetch-ledger.js';

const NONE = { blocks: 0, jobs: 0, mostOfAJob: 0 };

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
  expect(ledger.blame(kills, 10, [])).toEqual({
    perKill: [NONE, { blocks: 1, jobs: 1, mostOfAJob: 1 }, NONE, { blocks: 1, jobs: 1, mostOfAJob: 1 }],
    unexplained: [],
  });
});

it('a gateway and a packer hold no blocks: nothing is fetched again because of them', () => {
  const ledger = createFetchLedger();
  ledger.note(7, 100);
  ledger.note(7, 300);
  const kills = [
    { role: 'gateway', at: 150 },
    { role: 'packer', at: 200 },
  ] as const;
  expect(ledger.blame(kills, 10, [])).toEqual({
    perKill: [NONE, NONE],
    unexplained: [{ block: 7, first: 100, again: 300 }],
  });
});

it('what is redone is told by job', () => {
  const ledger = createFetchLedger();
  for (const at of [100, 300]) for (const block of [8, 9, 10, 11, 12, 35]) ledger.note(block, at);
  expect(ledger.blame([{ role: 'supervisor', at: 200 }], 10, []).perKill).toEqual([
    { blocks: 6, jobs: 3, mostOfAJob: 3 },
  ]);
});

it('what was fetched while Postgres recovered is blamed on the kill that it recovered from', () => {
  const ledger = createFetchLedger();
  ledger.note(4, 2_000);
  ledger.note(4, 9_000);
  ledger.note(5, 40_000);
  ledger.note(5, 50_000);
  const { perKill, unexplained } = ledger.blame([{ role: 'backend', at: 1_500 }], 10, []);
  expect(perKill).toEqual([{ blocks: 1, jobs: 1, mostOfAJob: 1 }]);
  expect(unexplained).toEqual([{ block: 5, first: 40_000, again: 50_000 }]);
});

it('what a leader fetches to try its rules is neither unexplained nor a job that is redone', () => {
  const ledger = createFetchLedger();
  for (const at of [100, 200, 900]) ledger.note(1, at);
  ledger.note(25, 210);
  ledger.note(25, 400);
  const trials = [{ blocks: [1, 25], at: 250 }];
  expect(ledger.blame([], 10, trials)).toEqual({
    perKill: [],
    unexplained: [{ block: 1, first: 100, again: 900 }],
  });
  expect(ledger.blame([{ role: 'ingester', at: 300 }], 10, trials).perKill).toEqual([
    { blocks: 1, jobs: 1, mostOfAJob: 1 },
  ]);
});
