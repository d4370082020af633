import { describe, expect, it } from 'vitest';
import { PLAIN, toRaw } from './cases.js';
import { createFuzz, createPairs, describeFailure } from './fuzz.js';
import { judge } from './judge.js';
import { HAS_REAL_BLOCKS, realSamples, smallSamples } from './real-samples.js';
import { getScanner } from './scanner.js';

/** Real blocks that are left to the prover: of chains with transactions or rules of their own. */
const DECLINED: readonly string[] = [
  'arb-sepolia 185232421',
  'bittensor-testnet 6646068',
  'cronos 68215',
  'hyperliquid 50000',
  'stable-testnet 59083166',
  'tempo-mainnet 20660166',
];

const pairFor = createPairs(getScanner);
const CASES = process.env.SEEDS === 'many' ? 12_500 : 4_000;
const SHARED = '(skipped without ../shared/chain-data)';

describe.skipIf(!HAS_REAL_BLOCKS)(`the scanner, of real blocks ${SHARED},`, () => {
  it.each([
    'mainnet-17686110-17686121',
    'mainnet-forks',
    'mainnet-0-8191',
    'optimism',
    'other-networks',
  ] as const)('accepts those of %s that it is made for, as the prover has them', async (recording) => {
    const declined: string[] = [];
    for (const sample of realSamples(recording, recording === 'mainnet-0-8191' ? 16 : 1)) {
      const { scan, judging } = await pairFor({ ...PLAIN, chainId: sample.chainId });
      const verdict = judge(scan, judging, toRaw(sample), true);
      if (verdict === 'declined') declined.push(sample.name);
      else expect([sample.name, verdict]).toEqual([sample.name, expect.stringMatching(/accepted|refused/)]);
    }
    expect(declined).toEqual(DECLINED.filter((name) => declined.includes(name)));
  });

  it.each([5, 6, 7, 8])('agrees with the prover or declines, in the cases of seed %i', async (seed) => {
    const fuzz = await createFuzz({ seed, makeScan: getScanner, samples: smallSamples() });
    for (let index = 0; index < CASES; index++) {
      const failure = await fuzz.attempt(index);
      if (failure !== undefined) expect.fail(describeFailure(failure));
    }
    for (const { accepted } of Object.values(fuzz.counts)) expect(accepted).toBeGreaterThan(CASES / 400);
  });
});
