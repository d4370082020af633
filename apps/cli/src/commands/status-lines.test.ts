import { expect, test } from 'vitest';
import { describeAudit } from './status-lines.js';

const last = { network: 'main', finishedAt: new Date(0), bundles: 1_200, bytesRead: 2_000_000, findings: 0 };

test('says when a network was last audited, and what is superseded', () => {
  expect(describeAudit({ network: 'main', last, superseded: [] })).toBe(
    'main: last audited at 1970-01-01T00:00:00.000Z (1,200 bundles, 2.0 MB): no damage.',
  );
  const superseded = [
    { kind: 'blocks', count: 1 },
    { kind: 'logs', count: 2 },
  ] as const;
  expect(
    describeAudit({ network: 'main', last: { ...last, findings: 3 }, superseded: [...superseded] }),
  ).toMatch(/: 3 findings; replaced by repaired versions and kept: 1 blocks, 2 logs\.$/);
  expect(describeAudit({ network: 'main', last: null, superseded: [] })).toBeNull();
});
