import { ALL } from '@packhouse/recordings';
import { beforeAll, describe, expect, it } from 'vitest';
import { POLICY } from '../test/recorded.js';
import { seal } from '../test/seal.js';
import { changed, flipped, thrown } from '../test/tamper.js';
import { createProver, type Prover } from './create-prover.js';

let prover: Prover;
beforeAll(async () => {
  prover = await createProver({ ...POLICY, senders: 'all' });
});

describe.each(ALL)('senders in $title', (source) => {
  it('are recovered in every fork, from every type of transaction, on mainnet and on OP', () => {
    for (const answer of [...source.blocks('forks'), ...source.blocks('optimism')]) {
      expect(prover.proveBlock(answer).proofs, String(answer.number)).toContain('senders');
    }
  });

  it.each(['0x0', '0x1', '0x2', '0x3', '0x4'])(
    'that did not sign are caught in a transaction of type %s',
    (type) => {
      const answer = source.block('forks', 22869878);
      const index = answer.block.transactions.findIndex((tx) => tx.type === type);
      const { from } = answer.block.transactions[index]!;
      const other = flipped(from);
      // the same in every part, so that only the signature disagrees
      const error = changed(answer, ['block', 'transactions', index, 'from'], other, () =>
        changed(answer, ['receipts', index, 'from'], other, () => thrown(() => prover.proveBlock(answer))),
      );
      expect(error).toMatchObject({
        code: 'PROOF_FAILED',
        data: { proof: 'senders', field: `transactions[${index}].from`, expected: from, got: other },
      });
    },
  );

  describe('that contradict another record are decided by the signature, though senders are not proved', () => {
    const OF_BLOCK = ['blocks', 'transactions'];
    let plain: Prover;
    beforeAll(async () => {
      plain = await createProver(POLICY);
    });
    const index = 3;
    const inBlock = ['block', 'transactions', index, 'from'];
    const inReceipt = ['receipts', index, 'from'];

    /** A block, who signed one of its transactions, and another. */
    function read() {
      const answer = source.block('forks', 12972264);
      const { from } = answer.block.transactions[index]!;
      return { answer, from, other: flipped(from) };
    }

    it('against the transaction, if its receipt names who signed it', () => {
      const { answer, from, other } = read();
      const error = changed(answer, inBlock, other, () => thrown(() => plain.proveBlock(answer)));
      expect(error).toMatchObject({
        message: `Block 12972264: transactions[3].from is ${other}, expected ${from}: it is who signed the transaction.`,
        data: { proof: 'senders', field: 'transactions[3].from', kinds: OF_BLOCK },
      });
    });

    it('against the receipt, if the transaction names who signed it', () => {
      const { answer, other } = read();
      const error = changed(answer, inReceipt, other, () => thrown(() => plain.proveBlock(answer)));
      expect(error).toMatchObject({
        data: { proof: 'consistency', field: 'receipts[3].from', kinds: ['receipts', 'logs'] },
      });
    });

    it('against both, if neither names who signed it', () => {
      const { answer, other } = read();
      const third = `0x${'77'.repeat(20)}`;
      const error = changed(answer, inBlock, third, () =>
        changed(answer, inReceipt, other, () => thrown(() => plain.proveBlock(answer))),
      );
      expect(error).toMatchObject({
        data: { field: 'transactions[3].from', kinds: [...OF_BLOCK, 'receipts', 'logs'] },
      });
    });

    it('against the transaction, if the traces name who signed it, and else against the traces', () => {
      const { answer, from, other } = read();
      const { block, traces } = answer;
      const proved = changed(answer, inBlock, other, () => plain.proveBlock({ block }));
      expect(thrown(() => plain.proveTraces(proved, traces))).toMatchObject({
        data: { proof: 'senders', field: 'transactions[3].from', expected: from, kinds: OF_BLOCK },
      });
      const root = traces!.findIndex((trace) => trace.transactionPosition === index);
      const error = changed(answer, ['traces', root, 'action', 'from'], other, () =>
        thrown(() => plain.proveTraces(plain.proveBlock({ block }), traces)),
      );
      expect(error).toMatchObject({
        data: { proof: 'traces', field: `traces[${root}].action.from`, kinds: ['traces'] },
      });
    });

    it('against the transaction, if only the address of its new contract follows from who signed it', () => {
      const creates = source.block('forks', 12972264);
      const at = creates.block.transactions.findIndex(({ to }) => to === null);
      const wrong = flipped(creates.block.transactions[at]!.from);
      const error = changed(creates, ['block', 'transactions', at, 'from'], wrong, () =>
        changed(creates, ['receipts', at, 'from'], undefined, () => thrown(() => plain.proveBlock(creates))),
      );
      expect(error).toMatchObject({ data: { field: `transactions[${at}].from`, kinds: OF_BLOCK } });
    });
  });

  it('are not claimed where a transaction has no signature, as those that came from L1 had none', async () => {
    const answer = source.block('forks', 47218);
    for (const tx of answer.block.transactions) Object.assign(tx, { r: '0x0', s: '0x0' });
    const { block } = await seal(answer);
    expect(prover.proveBlock({ block }).proofs).toEqual(['headerHash', 'transactionsRoot', 'consistency']);
  });

  it('of accounts that Anvil impersonates are refused, as their hashes follow from nothing', async () => {
    const answer = source.block('forks', 47218);
    Object.assign(answer.block.transactions[0]!, { r: '0x0', s: '0x0' });
    const { block } = await seal(answer);
    const tx = block.transactions[0]!;
    tx.hash = flipped(tx.hash);
    expect(thrown(() => prover.proveBlock({ block }))).toMatchObject({
      message: expect.stringContaining('nobody signed the transaction, and Anvil gives'),
      data: { proof: 'consistency', field: 'transactions[0].hash' },
    });
  });

  it('are named as a sample where only some were recovered, and as proved where those were all', async () => {
    const sampling = await createProver({ ...POLICY, senders: 'sample' });
    const { proofs } = sampling.proveBlock(source.block('forks', 22869878));
    expect(proofs).toContain('sampledSenders');
    expect(proofs).not.toContain('senders');
    const small = sampling.proveBlock(source.block('forks', 47218));
    expect(small.proofs).toEqual(expect.arrayContaining(['senders', 'sampledSenders']));
  });

  it('that are all wrong fail every sample', async () => {
    const sampling = await createProver({ ...POLICY, senders: 'sample' });
    const { block } = source.block('forks', 22869878);
    for (const tx of block.transactions) tx.from = flipped(tx.from);
    expect(thrown(() => sampling.proveBlock({ block }))).toMatchObject({
      data: { proof: 'senders' },
    });
  });

  it('of which one is wrong are caught by some samples, so that no node knows which it may forge', async () => {
    const sampling = await createProver({ ...POLICY, senders: 'sample' });
    const { block } = source.block('forks', 14764013);
    block.transactions[0]!.from = flipped(block.transactions[0]!.from);
    const caught = (_: unknown) => thrown(() => sampling.proveBlock({ block })) !== undefined;
    // three of nineteen, or of a few more: 300 samples agree by chance once in 10^22 runs
    expect(new Set(Array.from({ length: 300 }, caught)).size).toBe(2);
  });
});
