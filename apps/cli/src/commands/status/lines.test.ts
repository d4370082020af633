import { expect, test } from 'vitest';
import { describeAudit, describeLeader, describeNotProved } from './lines.js';

const last = { network: 'main', finishedAt: new Date(0), bundles: 1_200, bytesRead: 2_000_000, findings: 0 };

test('says when a network was last audited, and what is superseded', () => {
  expect(describeAudit({ network: 'main', last, superseded: [] })).toBe(
    'main: last audit 1970-01-01T00:00:00.000Z (1,200 bundles, 2.0 MB): no damage.',
  );
  const superseded = [
    { kind: 'blocks', count: 1 },
    { kind: 'logs', count: 2 },
  ] as const;
  expect(
    describeAudit({ network: 'main', last: { ...last, findings: 3 }, superseded: [...superseded] }),
  ).toMatch(/: 3 findings; superseded bundles kept: 1 blocks, 2 logs\.$/);
  expect(describeAudit({ network: 'main', last: null, superseded: [] })).toBeNull();
});

test('says what published files do not prove, a line for each reason', () => {
  const notProved = [
    { proof: 'receiptsRoot', because: 'the receipts of this chain are trusted' },
    { proof: 'headerHash', because: 'the headers of this chain are trusted' },
  ] as const;
  expect(describeNotProved({ network: 'main', notProved: [...notProved] })).toBe(
    'main: not proved: receiptsRoot: the receipts of this chain are trusted\n' +
      'main: not proved: headerHash: the headers of this chain are trusted',
  );
  expect(describeNotProved({ network: 'main', notProved: [] })).toBeNull();
});

test('says that no ingester leads, and since when if one ever did', () => {
  const since = new Date('2026-01-02T03:04:05Z');
  expect(describeLeader({ network: 'main', leaderless: { since } })).toBe(
    'main: no ingester leads since 2026-01-02T03:04:05.000Z, so nothing new is planned. See whether one runs and reaches Postgres.',
  );
  expect(describeLeader({ network: 'main', leaderless: { since: null } })).toContain('no ingester leads, so');
  expect(describeLeader({ network: 'main', leaderless: null })).toBeNull();
});
