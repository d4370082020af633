import { createKeccak256, type Keccak } from '@packhouse/chain';
import { beforeAll, describe, expect, it } from 'vitest';
import { PLAIN, toRaw } from './cases.js';
import { createFuzz, createPairs, describeFailure } from './fuzz.js';
import { judge } from './judge.js';
import { ERAS, makeBlock } from './make-block.js';
import { createRandom } from './random.js';
import { madeSamples } from './samples.js';
import { getScanner } from './scanner.js';

/** With those of the other file some 32,000, or 100,000 with TESTS=all; the nightly run of `npm run fuzz` takes others. */
const CASES = process.env.SEEDS === 'many' ? 12_500 : 4_000;

const PRAGUE = ERAS.find(({ name }) => name === 'prague')!;

const pairFor = createPairs(getScanner);

let keccak: Keccak;
beforeAll(async () => {
  keccak = await createKeccak256();
});

describe('the scanner', () => {
  it('accepts every block that is made, as the prover has it', async () => {
    for (const seed of [101, 102, 103]) {
      for (const sample of madeSamples(seed, keccak)) {
        const { scan, judging } = await pairFor({ ...PLAIN, chainId: sample.chainId });
        const verdict = judge(scan, judging, toRaw(sample), true);
        // Each real block of this chain has a type that the scanner does not read.
        const expected = sample.name === 'arbitrum' ? 'declined' : 'accepted';
        expect([sample.name, verdict]).toEqual([sample.name, expected]);
      }
    }
  });

  it.each([15, 16, 17, 127, 128, 129, 255, 256, 257])('accepts a block of %i transactions', async (count) => {
    const { block, receipts, traces } = makeBlock(createRandom(count), PRAGUE, false, keccak, count);
    const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));
    const raw = { block: bytes(block), receipts: bytes(receipts), traces: bytes(traces) };
    const { scan, judging } = await pairFor({ ...PLAIN, chainId: 1 });
    expect(judge(scan, judging, raw, true)).toBe('accepted');
  });

  it.each([1, 2, 3, 4])('agrees with the prover or declines, in the cases of seed %i', async (seed) => {
    const fuzz = await createFuzz({ seed, makeScan: getScanner, samples: madeSamples(seed, keccak) });
    for (let index = 0; index < CASES; index++) {
      const failure = await fuzz.attempt(index);
      if (failure !== undefined) expect.fail(describeFailure(failure));
    }
    // otherwise nothing would have been compared
    for (const { accepted } of Object.values(fuzz.counts)) expect(accepted).toBeGreaterThan(CASES / 400);
  });
});
