import { readFileSync } from 'node:fs';
import { ALL, GIVEN, getGiven, type RecordingName, type Recordings } from '@packhouse/recordings';
import { describe, expect, it } from 'vitest';
import { PLAIN, toRaw } from './cases.js';
import { countDeclines, toRow } from './declines.js';
import { createFuzz, createPairs, describeFailure } from './fuzz.js';
import { judge, type Verdict } from './judge.js';
import { realSamples, smallSamples } from './real-samples.js';
import { getScanner } from './scanner.js';

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
  it.each(['other-networks', 'other-networks-2', 'other-networks-3'] as const)(
    'says of %s what the prover says, or declines',
    async (name) => {
      const verdicts = await judgeAll(getGiven(), name);
      expect(namesOf(verdicts, (verdict) => typeof verdict === 'object')).toEqual([]);
    },
  );

  it('declines only valid blocks of the table in docs/proofs.md', async () => {
    const page = readFileSync(new URL('../../../docs/proofs.md', import.meta.url), 'utf8');
    const head = '| reason | rules | blocks |\n|---|---|---|\n';
    const table = page.split(head)[1]!.split('\n\n')[0]!;
    expect((await countDeclines(ALL)).map(toRow)).toEqual(table.split('\n'));
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
