import { expect, it } from 'vitest';
import { type FeedStep, parseFeedStep } from './feed-step.js';

const hash = `0x${'ab'.repeat(32)}`;
const sha256 = 'cd'.repeat(32);
const cursor = 'AQ_-';
const download_link = 'http://127.0.0.1/logs/5-9.json.gz';

const STEPS: FeedStep[] = [
  { step: 'bundle', kind: 'logs', range: '5-9', from: 6, download_link, sha256, bytes: 20, cursor },
  { step: 'new', block: 10, hash, parent: hash, files: { logs: download_link }, cursor },
  { step: 'undo', block: 10, hash, to: { block: 9, hash }, cursor },
  { step: 'undo', block: 0, hash, to: { block: -1, hash: null }, cursor },
  { step: 'final', block: 10, hash, cursor },
  { step: 'repaired', kind: 'logs', range: '5-9', sha256, supersedes: sha256, download_link, cursor },
  { step: 'waiting', block: 11, reason: 'not-produced', detail: 'It is not there.', kinds: ['logs'], cursor },
  { step: 'skipped', kind: 'logs', range: '11-11', reason: 'quarantined', cursor },
];

it.each(STEPS)('parses a step "$step" as it was sent', (step) => {
  expect(parseFeedStep(JSON.stringify(step), 'Line 1')).toEqual(step);
});

it.each(STEPS)('refuses a step "$step" that lacks a field, by its name', (step) => {
  for (const field of Object.keys(step).filter((name) => name !== 'step')) {
    const line = JSON.stringify({ ...step, [field]: undefined });
    expect(() => parseFeedStep(line, 'Line 1')).toThrow(`its field ${field} is missing`);
  }
});

it.each([
  ['{"step":"bundle"', 'is not JSON'],
  ['null', 'is not a known step: null'],
  ['{"step":"toString"}', 'is not a known step: "toString"'],
  [JSON.stringify({ ...STEPS[0], range: '9-5' }), 'range is malformed'],
  [JSON.stringify({ ...STEPS[1], files: {} }), 'files is malformed'],
  [JSON.stringify({ ...STEPS[1], files: { blobs: download_link } }), 'files is malformed'],
  [JSON.stringify({ ...STEPS[2], to: { block: 9 } }), 'to is malformed'],
  [JSON.stringify({ ...STEPS[4], block: 1.5 }), 'block is malformed'],
  [JSON.stringify({ ...STEPS[4], cursor: 'not base64url!' }), 'cursor is malformed'],
  [JSON.stringify({ ...STEPS[4], more: 'x'.repeat(70_000) }), 'a step has at most'],
])('refuses %.60s', (line, message) => {
  expect(() => parseFeedStep(line, 'Line 1')).toThrow(message);
});
