import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openKernel } from './open-kernel.js';

it('is compiled from the sources beside it', () => {
  const folder = new URL('../../kernel/', import.meta.url);
  const hash = createHash('sha256');
  for (const name of readdirSync(folder).sort()) hash.update(readFileSync(new URL(name, folder)));
  const compiled = readFileSync(new URL('./kernel-bytes.ts', import.meta.url), 'utf8');
  expect(compiled).toContain(hash.digest('hex'));
});

it('cuts reserved memory into regions that do not overlap, and no more of it', () => {
  const { bytes, region, reserve } = openKernel();
  const before = bytes().length;
  expect(reserve(3 * 65_536)).toBe(1);
  expect(bytes().length).toBeGreaterThan(before);
  const first = region(65_536);
  const second = region(65_536);
  expect(second).toBeGreaterThanOrEqual(first + 65_536 + 64);
  expect(region(65_536)).toBe(0);
  expect(second + 65_536).toBeLessThanOrEqual(bytes().length);
});
