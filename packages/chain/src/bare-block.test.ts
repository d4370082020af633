import { describe, expect, it } from 'vitest';
import { HAS_RECORDINGS, otherBlocks, POLICY, type Recorded, recorded } from '../test/recorded.js';
import { createProver } from './create-prover.js';

const bare = ({ block }: Pick<Recorded, 'block'>) => ({
  ...block,
  transactions: block.transactions.map(({ hash }) => hash),
});

describe.skipIf(!HAS_RECORDINGS)('a block whose transactions are hashes', () => {
  it.each(['mainnet-17686110-17686121', 'mainnet-forks', 'optimism'] as const)(
    'of %s is proved',
    async (name) => {
      const chainId = name === 'optimism' ? 10 : 1;
      const prover = await createProver({ ...POLICY, chainId });
      for (const each of recorded(name)) {
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
          expect(() => prover.proveBareBlock({ ...bare(each), ...lie }), `${number}`).toThrow(
            `Block ${number}`,
          );
        }
      }
    },
  );

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
});
