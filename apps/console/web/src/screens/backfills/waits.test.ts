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
    why: expect.stringMatching(/^No node of base has answered since 2020-01-01 \d\d:41\.$/),
    cure: { label: 'View nodes', href: '#/nodes?network=base' },
  });
});

test('one that is done or at work needs nothing, and a reason of a later version is shown as it is', () => {
  expect(getCondition(RANGE, report({ state: 'done' }))).toMatchObject({ words: 'Done', cure: null });
  expect(getCondition(RANGE, report({ state: 'fetching' })).words).toBe('Fetching');
  const waits = [{ reason: 'of-tomorrow', until: null, message: 'x' }];
  expect(getCondition(RANGE, report({ waits }))).toMatchObject({ words: 'of-tomorrow', why: null });
});

test('who stopped it, since when and why is told, also without a report', () => {
  const stopped = { actor: 'ada', at: '2020-01-01T04:41:00Z', reason: 'the disk is replaced' };
  const paused = { ...RANGE, state: 'paused', stopped } as Range;
  const told = { words: 'Paused', why: 'Paused by ada: the disk is replaced', since: stopped.at };
  expect(getCondition(paused, undefined)).toMatchObject(told);
  const waits = [{ reason: 'paused', until: null, since: stopped.at, message: 'x' }];
  expect(getCondition(paused, report({ waits }))).toMatchObject(told);
  const cancelled = { ...paused, state: 'cancelled', stopped: { ...stopped, reason: null } } as Range;
  expect(getCondition(cancelled, report({}))).toMatchObject({ why: 'Cancelled by ada.' });
});

test('without a report its own state is known', () => {
  expect(getCondition(RANGE, undefined).words).toBe('Active');
  expect(getCondition({ ...RANGE, state: 'paused' }, undefined).words).toBe('Paused');
  expect(getCondition({ ...RANGE, state: 'cancelled' }, report({})).words).toBe('Cancelled');
});
