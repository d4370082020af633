import { ALL, GIVEN, getGiven, type RecordingName, type Recordings } from '@packhouse/recordings';
import { describe, expect, it } from 'vitest';
import { PLAIN, toRaw } from './cases.js';
import { createFuzz, createPairs, describeFailure } from './fuzz.js';
import { judge, type Verdict } from './judge.js';
import { realSamples, smallSamples } from './real-samples.js';
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

/** The prover refuses it too. */
const REFUSED: readonly string[] = ['optimism 985465'];

/** Recordings that only clones have. */
const OF_CLONES = ['sepolia', 'mainnet', 'op-sepolia', 'goerli', 'devnet', 'hivechain'] as const;

const pairFor = createPairs(getScanner);
const CASES = process.env.SEEDS === 'many' ? 12_500 : 4_000;

/** What is said of the blocks of a recording, by their names. */
async function judgeAll(source: Recordings, recording: RecordingName): Promise<Map<string, Verdict>> {
  const verdicts = new Map<string, Verdict>();
  for (const sample of realSamples(source, recording, recording === 'early' ? 16 : 1)) {
    const { scan, judging } = await pairFor({ ...PLAIN, chainId: sample.chainId });
    verdicts.set(sample.name, judge(scan, judging, toRaw(sample), true));
  }
  return verdicts;
}

const namesOf = (verdicts: Map<string, Verdict>, isMeant: (verdict: Verdict) => boolean): string[] =>
  [...verdicts].filter(([, verdict]) => isMeant(verdict)).map(([name]) => name);

describe.each(ALL)('the scanner, of $title,', (source) => {
  const names = (['row', 'forks', 'early', 'optimism', ...OF_CLONES] as const).filter(source.has);
  it.each(names)('accepts those of %s, as the prover has them', async (name) => {
    const others = namesOf(await judgeAll(source, name), (verdict) => verdict !== 'accepted');
    expect(others).toEqual(REFUSED.filter((each) => others.includes(each)));
  });
});

describe.skipIf(GIVEN === null)('the scanner, of blocks of other networks (needs RECORDINGS)', () => {
  it('accepts or refuses those that it is made for, as the prover has them', async () => {
    const verdicts = await judgeAll(getGiven(), 'other-networks');
    expect(namesOf(verdicts, (verdict) => verdict === 'declined')).toEqual(DECLINED);
    expect(namesOf(verdicts, (verdict) => typeof verdict === 'object')).toEqual([]);
  });
});

describe('the scanner, of recorded blocks that are changed,', () => {
  it.each([5, 6, 7, 8])('agrees with the prover or declines, in the cases of seed %i', async (seed) => {
    const fuzz = await createFuzz({ seed, makeScan: getScanner, samples: smallSamples(ALL) });
    for (let index = 0; index < CASES; index++) {
      const failure = await fuzz.attempt(index);
      if (failure !== undefined) expect.fail(describeFailure(failure));
    }
    for (const { accepted } of Object.values(fuzz.counts)) expect(accepted).toBeGreaterThan(CASES / 400);
  });
});
