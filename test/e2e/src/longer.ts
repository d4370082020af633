import { type TestFunction, type TestOptions, test } from 'vitest';

/** A test that takes longer than it is worth in `npm test`: `npm run test:all` runs it, by TESTS=all. */
export function longer(title: string, ...rest: [TestFunction] | [TestOptions, TestFunction]): void {
  const [options, run] = rest.length === 1 ? [{}, rest[0]] : rest;
  test.runIf(process.env.TESTS === 'all')(`${title} (needs npm run test:all)`, options, run);
}
