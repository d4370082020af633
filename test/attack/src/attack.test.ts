import { createScope, type Scope } from '@packhouse/local';
import { afterEach, expect, inject, it } from 'vitest';
import { CASES } from './cases.js';
import type { Finding } from './ground/finding.js';

// What is counted holds on any machine; times and memory are what `npm run attack` is for.
const SECONDS = 2;

let scope: Scope;
afterEach(() => scope.close());

const counted = async (name = ''): Promise<Finding[]> => {
  scope = createScope();
  const options = { scope, postgresUrl: inject('postgresUrl'), seconds: SECONDS, short: true };
  const findings = await CASES[name]?.({ ...options, say: () => undefined });
  return (findings ?? []).filter((finding) => !finding.timed);
};

const SHORT = [
  ['nodes', 'no answer of a node that cuts or forges is passed on whole'],
  ['bombs', 'compressed bodies and answers that are bombs are refused'],
];
/** Of `npm run nightly`. */
const LONG = [
  ['batches', 'batches of a key that is too fast are charged whole'],
  ['guessing', 'keys cannot be guessed without end from one address'],
  ['pipes', 'output through a slow pipe is whole'],
  ['objects', 'no damaged file is downloaded whole'],
  ['clock', 'an ingester whose wall clock is set back an hour goes on'],
  ['repair', 'what was repaired is signed and verifies without a new block'],
];
const cases = process.env.SEEDS === 'many' ? [...SHORT, ...LONG] : SHORT;

it.runIf(process.platform === 'linux').each(cases)('%s: %s (needs Linux)', async (name) => {
  const findings = await counted(name);
  expect(findings.length).toBeGreaterThan(0);
  expect(findings.filter(({ held }) => !held)).toEqual([]);
});
