import { expect, test } from 'vitest';
import type { BackfillReport, Range } from './backfill-parts.js';
import { getCondition } from './waits.js';

const RANGE = { network: 'base', state: 'active' } as Range;
const report = (more: object): BackfillReport =>
  ({ state: 'waiting', waits: [], ...more }) as unknown as BackfillReport;

test('what a backfill waits for is told with its cause and the way to its cure', () => {
  const waits = [
    { reason: 'nodes-silent', until: null, since: '2020-01-01T04:41:00Z', message: 'x' },
    { reason: 'no-ingester', until: null, message: 'x' },
  ];
  expect(getCondition(RANGE, report({ waits }))).toMatchObject({
    tone: 'bad',
    words: 'No node answers',
    why: expect.stringMatching(/^No node has answered since 2020-01-01 \d\d:41\.$/),
    cure: { label: 'View nodes', href: '#/nodes?network=base' },
  });
});

test('one that is done or at work needs nothing, and a reason of a later version is shown as it is', () => {
  expect(getCondition(RANGE, report({ state: 'done' }))).toMatchObject({ words: 'Done', cure: null });
  expect(getCondition(RANGE, report({ state: 'fetching' })).words).toBe('Fetching');
  const waits = [{ reason: 'of-tomorrow', until: null, message: 'x' }];
  expect(getCondition(RANGE, report({ waits }))).toMatchObject({ words: 'of-tomorrow', why: null });
});

test('without a report its own state is known', () => {
  expect(getCondition(RANGE, undefined).words).toBe('Active');
  expect(getCondition({ ...RANGE, state: 'paused' }, undefined).words).toBe('Paused');
  expect(getCondition({ ...RANGE, state: 'cancelled' }, report({})).words).toBe('Cancelled');
});
