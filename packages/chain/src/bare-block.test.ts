import { ALL, GIVEN, type Recorded } from '@packhouse/recordings';
import { describe, expect, it } from 'vitest';
import { otherBlocks, POLICY } from '../test/recorded.js';
import { createProver } from './create-prover.js';

const bare = ({ block }: Pick<Recorded, 'block'>) => ({
  ...block,
  transactions: block.transactions.map(({ hash }) => hash),
});

async function expectProved(blocks: readonly Recorded[], chainId: number): Promise<void> {
  const prover = await createProver({ ...POLICY, chainId });
  for (const each of blocks) {
    const { number, block } = each;
    expect(prover.proveBareBlock(bare(each))).toEqual({
      number,
      hash: block.hash,
      logsBloom: block.logsBloom,
    });
    for (const lie of [
      { stateRoot: `0x${'ab'.repeat(32)}` },
      { receiptsRoot: `0x${'ab'.repeat(32)}` },
      { transactions: block.transactions.length === 0 ? [block.hash] : [] },
      { transactions: [{}] },
    ]) {
      expect(() => prover.proveBareBlock({ ...bare(each), ...lie }), `${number}`).toThrow(`Block ${number}`);
    }
  }
}

describe.each(ALL)('a block whose transactions are hashes, of $title', (source) => {
  it.each([
    ['row', 1],
    ['forks', 1],
    ['optimism', 10],
  ] as const)('of %s is proved', (name, chainId) => expectProved(source.blocks(name), chainId));
});

describe.skipIf(GIVEN === null)(
  'a block of other rules whose transactions are hashes (needs RECORDINGS)',
  () => {
    it('has no proved bloom where the rules do not prove it', async () => {
      for (const [name, id] of [
        ['cronos', 25],
        ['polygon', 137],
      ] as const) {
        const [each] = [...otherBlocks()].flatMap(([key, block]) => (key.startsWith(name) ? [block] : []));
        expect(each, name).toBeDefined();
        const prover = await createProver({ ...POLICY, chainId: id });
        expect(prover.proveBareBlock(bare(each as Recorded)).logsBloom).toBeNull();
      }
    });
  },
);
