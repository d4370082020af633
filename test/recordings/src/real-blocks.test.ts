import { createProver, PROOFS } from '@packhouse/chain';
import { describe, expect, it } from 'vitest';
import { CLONE, type RecordingName } from './recordings.js';

/** Files of blocks/ that are not made by this repository, with their chain ids and numbers of blocks. */
const FILES: readonly [name: RecordingName, chainId: number, blocks: number][] = [
  ['early', 11_155_111, 1_500],
  ['sepolia', 11_155_111, 74],
  ['mainnet', 1, 3],
  ['optimism', 10, 6],
  ['op-sepolia', 11_155_420, 3],
  ['goerli', 5, 2],
  ['devnet', 7_072_151_312, 3],
  ['hivechain', 3_503_995_874_084_926, 95],
];

describe('blocks that other packages ship', () => {
  it.each(FILES)('of %s are proved, with every proof', async (name, chainId, length) => {
    const blocks = CLONE.blocks(name);
    expect(blocks).toHaveLength(length);
    const prover = await createProver({
      chainId,
      header: 'recompute',
      transactions: 'recompute',
      receipts: 'recompute',
      senders: 'all',
      extraFields: 'keep',
    });
    for (const { number, block, receipts, traces } of blocks) {
      const proved = prover.proveBlock(receipts === undefined ? { block } : { block, receipts });
      const whole = receipts !== undefined || block.transactions.length === 0;
      expect(proved.proofs, `${name} ${number}`).toEqual(
        PROOFS.filter((proof) => {
          if (proof === 'receiptsRoot' || proof === 'logsBloom') return whole;
          if (proof === 'withdrawalsRoot') return block.withdrawals !== undefined;
          return !['parentLink', 'traces', 'logAddresses'].includes(proof);
        }),
      );
      const missed = proved.notProved.filter(({ proof }) => !proved.proofs.includes(proof));
      expect(missed, `${name} ${number}`).toEqual([]);
      if (traces !== undefined)
        expect(JSON.parse(prover.proveTraces(proved, traces))).toHaveLength(traces.length);
    }
  });

  it('are linked where they follow each other', () => {
    let links = 0;
    for (const [name] of FILES) {
      const blocks = CLONE.blocks(name);
      for (const [at, { number, block }] of blocks.entries()) {
        const before = blocks[at - 1];
        if (before?.number !== number - 1) continue;
        expect(block.parentHash, `${name} ${number}`).toBe(before.block.hash);
        links += 1;
      }
    }
    expect(links).toBeGreaterThan(1_500);
  });
});
