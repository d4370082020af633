import type { AuditOutcome, Finding } from '@packhouse/audit';
import { expect, test } from 'vitest';
import { memoryIo } from '../../testing/run.js';
import { createAuditPrinter } from './printer.js';

const counts = { bundles: 1, blocks: 12, bytesRead: 2_000_000, findings: 1, harmless: 1 };
const outcome: AuditOutcome = {
  summary: {
    ...counts,
    seconds: 4,
    bytesPerSecond: 500_000.4,
    causes: { sha256: 1, orphan: 1 },
    unchecked: [{ network: 'main', kind: 'logs', blocks: 3, reason: 'no receipts' }],
  },
  damaged: [],
  repairs: [],
  standing: 1,
};
const finding = { message: 'main logs 1-2: it is damaged.', cause: 'sha256' } as Finding;

function said(json: boolean): string {
  const { io, said: written } = memoryIo();
  let now = 0;
  const printer = createAuditPrinter(io, json, () => now);
  printer.finding(finding);
  printer.checked(counts);
  now = 6_000;
  printer.checked(counts);
  printer.deleted(['main/logs/3-4.json.gz']);
  printer.done(outcome, 6);
  printer.stopped();
  return written.out;
}

test('says in sentences what was found, what is unchecked, and how fast it was', () => {
  expect(said(false).trim().split('\n')).toEqual([
    'main logs 1-2: it is damaged.',
    'Deleted orphan main/logs/3-4.json.gz.',
    'Not checked: 3 blocks of main logs: no receipts.',
    'Audited 1 bundle, 12 blocks, 2.0 MB in 4 s (500 kB/s): 1 finding (1 sha256, 1 orphan).',
    '6 manifest entries to be signed by a packer.',
    'Audit stopped after 1 bundle, with 1 finding.',
  ]);
});

test('as JSON gives one object a line, and how far it is now and then', () => {
  const lines = said(true)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  expect(lines).toMatchObject([
    { event: 'finding', cause: 'sha256' },
    { event: 'progress', ...counts, seconds: 6, bytesPerSecond: 333_333 },
    { event: 'deleted', key: 'main/logs/3-4.json.gz' },
    { event: 'done', ...counts, bytesPerSecond: 500_000, standing: 1, repaired: 0, unsigned: 6 },
    { event: 'stopped', ...counts },
  ]);
});
