import { RLP } from '@ethereumjs/rlp';
import type { Json } from '@packhouse/recordings';
import { describe, expect, it } from 'vitest';
import { address, d, getBlock, getHash, q, word } from '../test/built-block.js';
import { POLICY } from '../test/recorded.js';
import { createProver } from './create-prover.js';

const NUMBER = 0x10;

/** A deposit of the OP stack, with its encoding. */
function deposit(): [Json, Buffer] {
  const tx: Json = {
    type: '0x7e',
    sourceHash: word('5'),
    from: address('a'),
    to: address('b'),
    mint: '0x0',
    value: '0x0',
    gas: '0x5208',
    isSystemTx: false,
    input: '0x',
    nonce: '0x0',
    gasPrice: '0x0',
  };
  const items = [d(tx.sourceHash), d(tx.from), d(tx.to), 0n, 0n, q(tx.gas), 0n, d('0x')];
  const bytes = Buffer.concat([Buffer.from([0x7e]), RLP.encode(items)]);
  return [{ ...tx, hash: getHash(bytes) }, bytes];
}

type Refunds = readonly (readonly [index: number, gas: number])[];

/** A transaction of type 0x7d as op-reth writes it, with its encoding. */
function postExec(refunds: Refunds, more: Json = {}, input?: Uint8Array, of = NUMBER): [Json, Buffer] {
  const payload = input ?? RLP.encode([1, of, refunds as never]);
  const bytes = Buffer.concat([Buffer.from([0x7d]), payload]);
  const tx: Json = {
    type: '0x7d',
    from: address('0'),
    gas: '0x0',
    value: '0x0',
    input: `0x${Buffer.from(payload).toString('hex')}`,
    payload: {
      version: 1,
      blockNumber: of,
      gasRefundEntries: refunds.map(([index, gasRefund]) => ({ index, gasRefund })),
    },
    ...more,
  };
  return [{ hash: getHash(bytes), ...tx }, bytes];
}

async function prove(
  transactions: readonly [Json, Buffer][],
  chainId = 10,
  change?: (answer: Answer) => void,
) {
  const answer = await getBlock(transactions);
  change?.(answer);
  return (await createProver({ ...POLICY, chainId, senders: 'all' })).proveBlock(answer);
}
type Answer = Awaited<ReturnType<typeof getBlock>>;

const failure = (...args: Parameters<typeof prove>) =>
  prove(...args).then(
    () => undefined,
    (error: unknown) => error,
  );

const REFUNDS: Refunds = [[0, 7]];

describe('a transaction of type 0x7d of the OP stack', () => {
  it.each([10, 8_453, 84_532, 42_220])('is proved by its encoding on chain %i', async (chainId) => {
    const number = { 42220: '0x10000000' }[chainId];
    const of = Number(number ?? NUMBER);
    const answer = await getBlock(
      [deposit(), postExec(REFUNDS, {}, undefined, of)],
      number ? { number } : {},
    );
    const prover = await createProver({ ...POLICY, chainId, senders: 'all' });
    const { proofs, texts } = prover.proveBlock(answer);
    expect(proofs).toEqual(
      expect.arrayContaining(['headerHash', 'transactionsRoot', 'receiptsRoot', 'consistency', 'senders']),
    );
    const [, kept] = JSON.parse(texts.transactions);
    expect(kept).toEqual(answer.block.transactions[1]);
    expect(kept).not.toHaveProperty('to');
  });

  it('may have no refunds, no payload in words, and a recipient of zeros, which its receipt repeats', async () => {
    const zeros = postExec([], { to: address('0'), payload: undefined });
    expect((await prove([deposit(), zeros])).proofs).toContain('consistency');
    const inReceipt = await prove([deposit(), postExec(REFUNDS)], 10, ({ receipts }) => {
      receipts[1]!.to = address('0');
    });
    expect(inReceipt.proofs).toContain('receiptsRoot');
  });

  it.each<[string, Json, string]>([
    ['hash', { hash: word('9') }, 'hash'],
    ['sender', { from: address('a') }, 'from'],
    ['recipient', { to: address('a') }, 'to'],
    ['value', { value: '0x1' }, 'value'],
    ['gas', { gas: '0x1' }, 'gas'],
    ['payload in words', { payload: { version: 1, blockNumber: 16, gasRefundEntries: [] } }, 'payload'],
    [
      'block in words',
      { payload: { version: 1, blockNumber: 17, gasRefundEntries: [{ index: 0, gasRefund: 7 }] } },
      'payload',
    ],
    [
      'refund in words',
      { payload: { version: 1, blockNumber: 16, gasRefundEntries: [{ index: 0, gasRefund: 8 }] } },
      'payload',
    ],
    ['entry in words', { payload: { version: 1, blockNumber: 16, gasRefundEntries: [null] } }, 'payload'],
    ['form in words', { payload: 7 }, 'payload'],
  ])('has no other %s', async (_, more, field) => {
    expect(await failure([deposit(), postExec(REFUNDS, more)])).toMatchObject({
      code: 'PROOF_FAILED',
      data: { field: `transactions[1].${field}` },
    });
  });

  it.each<[string, Refunds, Uint8Array | undefined]>([
    ['the version', [], RLP.encode([2, NUMBER, []])],
    ['the block', [], RLP.encode([1, NUMBER + 1, []])],
    ['a part', [], RLP.encode([1, NUMBER])],
    ['a part too much', [], RLP.encode([1, NUMBER, [], []])],
    ['the bytes after it', [], Buffer.concat([RLP.encode([1, NUMBER, []]), Buffer.from([1])])],
    ['the form of an entry', [], RLP.encode([1, NUMBER, [[0]]] as never)],
    ['the form of a number', [], RLP.encode([1, NUMBER, [[0, [1]]]] as never)],
    ['leading zeros', [], RLP.encode([1, NUMBER, [[0, Buffer.from([0, 7])]]] as never)],
    ['the form', [], Buffer.from([0xc1])],
    ['nothing', [], Buffer.alloc(0)],
    ['a transaction that is none', [[2, 7]], undefined],
    ['itself', [[1, 7]], undefined],
    [
      'the same twice',
      [
        [0, 7],
        [0, 8],
      ],
      undefined,
    ],
    ['no gas', [[0, 0]], undefined],
  ])('is refused for %s in its input', async (_, refunds, input) => {
    expect(await failure([deposit(), postExec(refunds, {}, input)])).toMatchObject({
      code: 'PROOF_FAILED',
      data: { field: 'transactions[1].input' },
    });
  });

  it('is the last of its block, and one', async () => {
    for (const list of [
      [postExec([]), deposit()],
      [deposit(), postExec([]), postExec([])],
    ]) {
      expect(await failure(list)).toMatchObject({
        data: { field: expect.stringMatching(/^transactions\[[01]\]\.type$/) },
      });
    }
  });

  it('is in the roots: neither invented, nor left out, nor with another status', async () => {
    const change = (with_: (answer: Answer) => unknown) =>
      failure([deposit(), postExec(REFUNDS)], 10, (answer) => void with_(answer));
    const isLeftOut = await change(({ block, receipts }) => [block.transactions.pop(), receipts.pop()]);
    expect(isLeftOut).toMatchObject({ data: { proof: 'transactionsRoot' } });
    const hasFailed = await change(({ receipts }) => Object.assign(receipts[1]!, { status: '0x0' }));
    expect(hasFailed).toMatchObject({ data: { proof: 'receiptsRoot' } });
    const isOther = await change(({ block }) => Object.assign(block.transactions[1]!, { input: '0xc0' }));
    expect(isOther).toMatchObject({ data: { field: 'transactions[1].input' } });
  });

  it.each([1, 137, 999])('is none of chain %i', async (chainId) => {
    expect(await failure([postExec([])], chainId)).toMatchObject({
      code: 'RECORD_INVALID',
      data: { field: 'type' },
    });
  });
});
