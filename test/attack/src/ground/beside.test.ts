import { expect, it } from 'vitest';
import type { ProbeReport } from '../programs/watch-victim.js';
import { type Beside, memory, victims } from './beside.js';
import { renderTable } from './finding.js';

const report = (part: Partial<ProbeReport>): ProbeReport => ({
  sent: 400,
  ok: 400,
  p50Ms: 1,
  p99Ms: 2,
  longestMs: 3,
  otherwise: {},
  ...part,
});
const beside = (alone: ProbeReport, attacked: ProbeReport, peak = 300e6): Beside => ({
  alone: { calls: alone },
  attacked: { calls: attacked },
  clients: [],
  memory: { before: 100e6, peak, after: 120e6 },
});
const verdicts = (seen: Beside) => victims('bodies', 'large ones', seen).map(({ held }) => held);

it('others may wait twice as long as alone, and what is noise is no finding', () => {
  const alone = report({ p50Ms: 30, p99Ms: 50 });
  expect(verdicts(beside(alone, report({ p50Ms: 60, p99Ms: 100 })))).toEqual([true, true, true]);
  expect(verdicts(beside(alone, report({ p50Ms: 61, p99Ms: 101 })))).toEqual([false, false, true]);
  expect(verdicts(beside(report({}), report({ p50Ms: 3.9, p99Ms: 9 })))).toEqual([true, true, true]);
});

it('others that are refused, or that nobody answers, are found', () => {
  expect(verdicts(beside(report({}), report({ ok: 390 })))).toEqual([true, true, false]);
  expect(verdicts(beside(report({}), report({ sent: 0, ok: 0 })))).toEqual([true, true, false]);
});

it('the table says what was alone, what under attack, and what may be', () => {
  const findings = [
    memory('bodies', 'large ones', beside(report({}), report({}), 2e9)),
    { case: 'pipes', failed: 'it broke' },
  ];
  expect(renderTable(findings).split('\n')).toEqual([
    'CASE    WHAT                               ALONE   UNDER ATTACK           BOUND',
    'bodies  large ones: memory at its highest  100 MB  2000 MB, 120 MB after  at most 977 MB  BROKEN',
    'pipes   it broke                                                                          FAILED',
  ]);
});
