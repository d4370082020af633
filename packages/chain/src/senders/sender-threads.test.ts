import { ALL } from '@packhouse/recordings';
import { afterEach, describe, expect, it } from 'vitest';
import { toRaw } from '../../test/raw.js';
import { POLICY } from '../../test/recorded.js';
import { createProver } from '../create-prover.js';
import { createSenderThreads, type SenderThreads } from './sender-threads.js';

let threads: SenderThreads;
afterEach(() => threads.close());

describe.each(ALL)('senders in threads, of $title', (source) => {
  it('are those that the prover recovers, of every block of several forks at once', async () => {
    threads = createSenderThreads();
    const prover = await createProver({ ...POLICY, senders: 'all' });
    const blocks = source.blocks('forks');
    const proofs = await Promise.all(
      blocks.map(async ({ number, block, receipts }) => {
        const { senders } = prover.proveBlock({ block, receipts }, { later: true });
        return threads.prove(number, senders!);
      }),
    );
    expect(proofs).toEqual(blocks.map(() => ['senders', 'sampledSenders']));
  });

  it('refuse a false one, and name the transaction, who signed it and whom it names', async () => {
    threads = createSenderThreads();
    const prover = await createProver({ ...POLICY, senders: 'all' });
    const [answer] = source.blocks('row');
    const { from } = answer!.block.transactions[2]!;
    const other = `0x${'ab'.repeat(20)}`;
    answer!.block.transactions[2]!.from = other;
    const { senders } = prover.proveBlock({ block: answer!.block }, { later: true });
    await expect(threads.prove(answer!.number, senders!)).rejects.toMatchObject({
      code: 'PROOF_FAILED',
      message: `Block ${answer!.number}: transactions[2].from is ${other}, expected ${from}: it is who signed the transaction.`,
      data: { proof: 'senders', field: 'transactions[2].from', expected: from, got: other },
    });
  });

  it('have the same rows from bytes as from objects, in every fork and of every type', async () => {
    threads = createSenderThreads();
    const prover = await createProver({ ...POLICY, chainId: 1, senders: 'all' });
    const types = new Set<unknown>();
    for (const answer of [...source.blocks('forks'), ...source.blocks('early').slice(46, 60)]) {
      const scanned = prover.proveRaw(toRaw(answer));
      if (typeof scanned === 'string') continue;
      const { senders } = prover.proveBlock(answer, { later: true });
      expect(Buffer.compare(scanned.senders!.rows, senders!.rows)).toBe(0);
      expect(scanned.senders!.proofs).toEqual(senders!.proofs);
      for (const { type } of answer.block.transactions) types.add(type);
    }
    expect([...types].sort()).toEqual(['0x0', '0x1', '0x2', '0x3', '0x4']);
  });
});
