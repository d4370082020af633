import { type TestAPI, test } from 'vitest';

/** A test that takes longer than every change can wait for: `npm run nightly` runs it, by TESTS=all. */
export const nightly = test.runIf(process.env.TESTS === 'all') as TestAPI;
