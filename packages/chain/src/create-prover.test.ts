import { createMPT } from '@ethereumjs/mpt';
import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3';
import { ALL, type Json, type Recorded } from '@packhouse/recordings';
import { beforeAll, describe, expect, it } from 'vitest';
import { getBlockOfOp, getEarlyChain, POLICY } from '../test/recorded.js';
import { canonicalRecord } from './canonical-record.js';
import { createProver, type Prover } from './create-prover.js';
import { encodeReceipt, encodeWithdrawal } from './encode/encode-block.js';
import { encodeTransaction } from './encode/encode-transaction.js';
import { RlpBuffer } from './encode/rlp-buffer.js';
import type { ProvedBlock } from './prove/proved-block.js';
import { readBlock } from './record/block.js';
import { NO_HINTS } from './record/log.js';
import { Reader } from './record/reader.js';
import { readReceipt } from './record/receipt.js';
import { normalizeTraceError } from './record/trace-errors.js';
import { readTransaction } from './record/transaction.js';

let prover: Prover;
beforeAll(async () => {
  prover = await createProver(POLICY);
});

const blockText = ({ texts }: ProvedBlock) => texts.blockHead + texts.transactions + texts.blockTail;

/** A node's answer as bundles have it: r and s in 32 bytes. */
function asBundled(transactions: readonly Json[]): Json[] {
  const word = (value: unknown) => `0x${String(value).slice(2).padStart(64, '0')}`;
  return transactions.map((tx) => ({ ...tx, r: word(tx.r), s: word(tx.s) }));
}

/** Expects that all blocks of a chain pass, linked where one follows the one before. */
async function expectPassed(blocks: readonly Recorded[], chainId: number | undefined): Promise<void> {
  const ofChain = await createProver({ ...POLICY, ...(chainId === undefined ? {} : { chainId }) });
  let previous: ProvedBlock | undefined;
  for (const answer of blocks) {
    const block = ofChain.proveBlock(answer);
    const open = answer.block.uncles.length > 0 ? [expect.stringMatching(/^size is not/)] : [];
    if (chainId !== undefined) expect(block.notProved.map(({ because }) => because)).toEqual(open);
    expect(block.number).toBe(answer.number);
    if (previous?.number === block.number - 1) expect(block.parentHash).toBe(previous.hash);
    if (answer.traces !== undefined) prover.proveTraces(block, answer.traces);
    previous = block;
  }
}

/** Expects that the texts hold what the node sent, and equal the form without proofs. */
async function expectTexts(blocks: readonly Recorded[]): Promise<void> {
  const leaving = await createProver({ ...POLICY, derived: 'leave' });
  for (const answer of blocks) {
    const { block, receipts, traces } = answer;
    const proved = leaving.proveBlock(answer);
    const transactions = asBundled(block.transactions);
    expect(JSON.parse(blockText(proved))).toEqual({ ...block, transactions });
    expect(JSON.parse(proved.texts.transactions)).toEqual(transactions);
    expect(blockText(proved)).toBe(canonicalRecord('blocks', block));
    expect(proved.texts.transactions).toBe(canonicalRecord('transactions', block.transactions));
    if (receipts !== undefined) {
      const logs = receipts.flatMap((receipt) => receipt.logs);
      expect(JSON.parse(proved.texts.receipts!)).toEqual(receipts);
      expect(JSON.parse(proved.texts.logs!)).toEqual(logs);
      expect(proved.texts.receipts).toBe(canonicalRecord('receipts', receipts));
      expect(proved.texts.logs).toBe(canonicalRecord('logs', logs));
    }
    if (traces !== undefined) {
      const text = prover.proveTraces(proved, traces);
      // Failures are said in one way, and without a result; a revert may have one.
      const expected = traces.map(({ result, ...trace }) => {
        const error =
          trace.error === undefined
            ? undefined
            : normalizeTraceError(trace.error as string, trace.action.to as string | undefined);
        const one = error === undefined ? trace : { ...trace, error };
        const failed = error !== undefined && error !== 'Reverted';
        return result === undefined || (result === null && failed) ? one : { ...one, result };
      });
      expect(JSON.parse(text)).toEqual(expected);
      expect(text).toBe(canonicalRecord('traces', traces));
    }
  }
}

describe.each(ALL)('$title', (source) => {
  it.each([
    ['early', getEarlyChain(source)],
    ['row', 1],
    ['forks', 1],
  ] as const)('every block of %s passes, linked where it follows the one before', (name, chainId) =>
    expectPassed(source.blocks(name), chainId),
  );

  it.each([
    ['early', 64],
    ['row', 1],
    ['forks', 1],
  ] as const)('the texts of %s hold what the node sent, and equal the form without proofs', (name, step) =>
    expectTexts(source.blocks(name).filter(({ number }) => number % step === 0)),
  );

  it.each([
    ['forks', 47218, ['receiptsRoot', 'logsBloom']],
    ['forks', 18500000, ['receiptsRoot', 'logsBloom', 'withdrawalsRoot']],
    ['forks', 22431086, ['withdrawalsRoot']],
    ['row', 17686110, ['receiptsRoot', 'logsBloom']],
    ['early', null, ['receiptsRoot', 'logsBloom']],
  ] as const)('%s block %s lists exactly the proofs that could be made', (name, number, more) => {
    const all = ['headerHash', 'transactionsRoot', ...more, 'consistency'];
    const answer = number === null ? source.blocks(name)[0]! : source.block(name, number);
    expect(prover.proveBlock(answer).proofs).toEqual(all);
  });

  it('a network whose headers are trusted proves the rest and does not claim the hash', async () => {
    const trusting = await createProver({ ...POLICY, header: 'trust' });
    const answer = source.block('forks', 18500000);
    answer.block.stateRoot = `0x${'1'.repeat(64)}`;
    delete answer.block.mixHash;
    const { proofs } = trusting.proveBlock(answer);
    expect(proofs).toEqual([
      'transactionsRoot',
      'receiptsRoot',
      'logsBloom',
      'withdrawalsRoot',
      'consistency',
    ]);
  });

  it('the facts that traces are checked against are those of the transactions and receipts', () => {
    const { transactions } = prover.proveBlock(source.block('forks', 15537394));
    const { receipts } = source.block('forks', 15537394);
    const creation = receipts!.findIndex(({ contractAddress }) => contractAddress !== null);
    expect(transactions[creation]).toMatchObject({
      to: null,
      contractAddress: receipts![creation]!.contractAddress,
      success: true,
    });
    const failed = receipts!.findIndex(({ status }) => status === '0x0');
    expect(transactions[failed]!.success).toBe(false);
    const frontier = prover.proveBlock(source.block('forks', 47218));
    expect(frontier.transactions[0]!.success).toBe(undefined);
  });

  it('roots and hashes agree with @ethereumjs/mpt, @ethereumjs/rlp and @noble/hashes', () =>
    expectOracles(source.blocks('forks')));
});

describe.each(ALL)('blocks of OP in $title', (source) => {
  it('pass, linked where one follows the one before', () =>
    expectPassed(source.blocks('optimism'), undefined));

  it('have texts that hold what the node sent, and equal the form without proofs', () =>
    expectTexts(source.blocks('optimism')));

  it('list exactly the proofs that could be made', () => {
    const answer = getBlockOfOp(source);
    // Since Isthmus, which came with the hash of the requests, it is the root of a storage.
    const more = answer.block.requestsHash === undefined ? ['withdrawalsRoot'] : [];
    const all = ['headerHash', 'transactionsRoot', 'receiptsRoot', 'logsBloom', ...more, 'consistency'];
    expect(prover.proveBlock(answer).proofs).toEqual(all);
  });

  it('have roots and hashes that agree with @ethereumjs/mpt, @ethereumjs/rlp and @noble/hashes', () =>
    expectOracles(source.blocks('optimism')));
});

/** Expects that roots and hashes agree with those of other libraries, not with the header alone. */
async function expectOracles(blocks: readonly Recorded[]): Promise<void> {
  for (const answer of blocks.filter(({ block }) => block.transactions.length < 180)) {
    const { transactions, receipts, withdrawals } = encodings(answer);
    const hash = (bytes: Uint8Array) => `0x${Buffer.from(keccak_256(bytes)).toString('hex')}`;
    expect(transactions.map(hash)).toEqual(answer.block.transactions.map((tx) => tx.hash));
    expect(await oracleRoot(transactions)).toBe(answer.block.transactionsRoot);
    if (receipts !== undefined) expect(await oracleRoot(receipts)).toBe(answer.block.receiptsRoot);
    const isRollup = answer.block.transactions.some((tx) => tx.type === '0x7e');
    if (withdrawals !== undefined && !isRollup) {
      expect(await oracleRoot(withdrawals)).toBe(answer.block.withdrawalsRoot);
    }
  }
}

async function oracleRoot(items: readonly Uint8Array[]): Promise<string> {
  const trie = await createMPT();
  for (const [index, item] of items.entries()) await trie.put(RLP.encode(index), item);
  return `0x${Buffer.from(trie.root()).toString('hex')}`;
}

function encodings({ block, receipts }: Recorded) {
  const reader = new Reader(true);
  const record = readBlock(reader, block, { seals: 'required' });
  const transactions = block.transactions.map((tx) => readTransaction(reader, tx, { hash: '', number: '' }));
  const encoded = <T>(items: readonly T[], encode: (rlp: RlpBuffer, item: T, index: number) => void) => {
    const rlp = new RlpBuffer();
    items.forEach((item, index) => {
      encode(rlp, item, index);
    });
    return items.map((_, index) => Uint8Array.from(rlp.item(index)));
  };
  const records = receipts?.map((receipt, index) => readReceipt(reader, receipt, NO_HINTS, index, 0));
  return {
    transactions: encoded(transactions, encodeTransaction),
    receipts:
      records &&
      encoded(records, (rlp, receipt, index) => encodeReceipt(rlp, receipt, transactions[index]!.kind)),
    withdrawals: record.withdrawals && encoded(record.withdrawals, encodeWithdrawal),
  };
}
