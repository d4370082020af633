import { expect, it } from 'vitest';
import { openScanKernel } from './open-scan.js';

it('cuts reserved memory into regions that do not overlap, and no more of it', () => {
  const { bytes, region, reserve } = openScanKernel();
  const before = bytes().length;
  expect(reserve(3 * 65_536)).toBe(1);
  expect(bytes().length).toBeGreaterThan(before);
  const first = region(65_536);
  const second = region(65_536);
  expect(second).toBeGreaterThanOrEqual(first + 65_536 + 64);
  expect(region(65_536)).toBe(0);
  expect(second + 65_536).toBeLessThanOrEqual(bytes().length);
});
