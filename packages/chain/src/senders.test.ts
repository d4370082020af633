import { beforeAll, describe, expect, it } from 'vitest';
import { HAS_RECORDINGS, POLICY, recorded, recordedBlock } from '../test/recorded.js';
import { changed, flipped, thrown } from '../test/tamper.js';
import { createProver, type Prover } from './create-prover.js';
import { encodeTransaction } from './encode/encode-transaction.js';
import { createKeccak256, toHex } from './encode/keccak.js';
import { RlpBuffer } from './encode/rlp-buffer.js';
import { trieRoot } from './encode/trie-root.js';
import { Reader } from './record/reader.js';
import { readTransaction } from './record/transaction.js';

let prover: Prover;
beforeAll(async () => {
  prover = await createProver({ ...POLICY, senders: 'all' });
});

describe.skipIf(!HAS_RECORDINGS)('senders (skipped without ../shared/chain-data)', () => {
  it('are recovered in every fork, from every type of transaction, on mainnet and on OP', () => {
    for (const answer of [...recorded('mainnet-forks'), ...recorded('optimism')]) {
      expect(prover.proveBlock(answer).proofs, String(answer.number)).toContain('senders');
    }
  });

  it.each(['0x0', '0x1', '0x2', '0x3', '0x4'])(
    'that did not sign are caught in a transaction of type %s',
    (type) => {
      const answer = recordedBlock('mainnet-forks', 22869878);
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

  it('are not claimed where a transaction has no signature, as those that came from L1 had none', async () => {
    const trusting = await createProver({ ...POLICY, header: 'trust', senders: 'all' });
    const { block } = recordedBlock('optimism', 1);
    const tx = Object.assign(block.transactions[0]!, { r: '0x0', s: '0x0' });
    const keccak = await createKeccak256();
    const rlp = new RlpBuffer();
    encodeTransaction(rlp, readTransaction(new Reader(true), tx, { hash: '', number: '' }));
    tx.hash = toHex(keccak.hash(rlp.item(0)));
    block.transactionsRoot = toHex(trieRoot(rlp, keccak));
    expect(trusting.proveBlock({ block }).proofs).toEqual(['transactionsRoot', 'consistency']);
  });
});
