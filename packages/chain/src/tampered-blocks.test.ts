import { ALL, GIVEN, getGiven, type Recorded } from '@packhouse/recordings';
import { isPackhouseError, type PackhouseError } from '@packhouse/runtime';
import { beforeAll, describe, expect, it } from 'vitest';
import { getBlockOfOp, POLICY } from '../test/recorded.js';
import { changed, flipped, leaves, type Path, thrown, valueAt } from '../test/tamper.js';
import { createProver, type Prover } from './create-prover.js';

let prover: Prover;
beforeAll(async () => {
  prover = await createProver({ ...POLICY, derived: 'leave' });
});

/** Fields that no proof covers, with the reason in docs/proofs.md. */
const UNPROVED = {
  block: ['totalDifficulty', 'author', 'sealFields'],
  transaction: [
    'chainId',
    'condition',
    'creates',
    'publicKey',
    'raw',
    'standardV',
    'depositReceiptVersion',
    'gasPrice',
    'r',
    's',
    'authorizationList.authority',
    'queueOrigin',
    'l1TxOrigin',
    'l1BlockNumber',
    'l1Timestamp',
    'index',
    'queueIndex',
    'rawTransaction',
  ],
  receipt: [
    'blobGasPrice',
    'blobGasUsed',
    'status',
    'root',
    'contractAddress',
    'gasUsed',
    'depositNonce',
    'l1Fee',
    'l1FeeScalar',
    'l1GasPrice',
    'l1GasUsed',
    'l1BaseFeeScalar',
    'l1BlobBaseFee',
    'l1BlobBaseFeeScalar',
    'daFootprintGasScalar',
  ],
};

function tamper(
  answer: Recorded,
  path: Path,
  value: unknown = flipped(valueAt(answer, path)),
): PackhouseError {
  const error = changed(answer, path, value, () => thrown(() => prover.proveBlock(answer)));
  const what = `${answer.number} ${path.join('.')}`;
  expect(isPackhouseError(error), `${what} went unseen: ${error}`).toBe(true);
  expect(['PROOF_FAILED', 'RECORD_INVALID']).toContain((error as PackhouseError).code);
  expect((error as PackhouseError).data.block, what).toEqual(expect.any(Number));
  return error as PackhouseError;
}

/** A block's own fields that a flipped nibble must show in. */
function headerPaths(answer: Recorded): Path[] {
  const { transactions, withdrawals, uncles, ...fields } = answer.block;
  return Object.keys(fields)
    .filter((name) => !UNPROVED.block.includes(name))
    .map((name) => ['block', name]);
}

/** Expects that a nibble in any proved field of a transaction of the type is named; of one with an access list if `lists`. */
function tamperTransaction(answer: Recorded, type: string | undefined, lists = false): void {
  const index = answer.block.transactions.findIndex(
    (tx) => tx.type === type && (!lists || (tx.accessList as unknown[]).length > 0),
  );
  expect(index).toBeGreaterThanOrEqual(0);
  const tx = answer.block.transactions[index]!;
  const isDeposit = type === '0x7e';
  let seen = 0;
  for (const leaf of leaves(tx)) {
    const field = leaf.filter((key) => typeof key === 'string').join('.');
    const isFree =
      UNPROVED.transaction.includes(field) &&
      // the same names are proved where the type signs them
      !(field === 'chainId' && type !== '0x0' && type !== undefined) &&
      !(field === 'gasPrice' && !isDeposit) &&
      !((field === 'r' || field === 's') && !isDeposit);
    if (isFree) continue;
    // nobody signs a deposit, so these are filled in by the node
    if (isDeposit && ['v', 'yParity'].includes(field) && tx.v === undefined) continue;
    // without receipts nothing else in the answer names the sender
    if (field === 'from' && answer.receipts?.[index]?.from === undefined && !isDeposit) continue;
    const error = tamper(answer, ['block', 'transactions', index, ...leaf]);
    if (error.code === 'RECORD_INVALID') expect(error.data.record).toBe(`transaction ${index}`);
    else expect(error.data.field, field).toMatch(new RegExp(`^(transactions|receipts)\\[${index}\\]`));
    seen++;
  }
  expect(seen).toBeGreaterThanOrEqual(9);
}

/** Expects that a nibble in any proved field of a receipt of the type, or of its logs, is named. */
function tamperReceipt(answer: Recorded, type: string | undefined): void {
  const receipts = answer.receipts!;
  const ofType = (at: number) => answer.block.transactions[at]!.type === type;
  const found = receipts.findIndex((receipt, at) => ofType(at) && receipt.logs.length > 0);
  const index = found >= 0 ? found : receipts.findIndex((_, at) => ofType(at));
  const { root, status } = receipts[index]!;
  const isProved = (field: string) => {
    if (field === 'status') return root === undefined || root === '0x';
    if (field === 'root') return String(root).length === 66;
    if (field === 'depositNonce') return receipts[index]!.depositReceiptVersion !== undefined;
    if (field === 'contractAddress') return receipts[index]!.from !== undefined || status === undefined;
    if (field === 'gasUsed') return type !== '0x7e' || receipts[index]!.depositNonce !== undefined;
    if (field === 'blobGasUsed') return type === '0x3';
    return !UNPROVED.receipt.includes(field);
  };
  let seen = 0;
  for (const leaf of leaves(receipts[index])) {
    if (!isProved(String(leaf[0]))) continue;
    const error = tamper(answer, ['receipts', index, ...leaf]);
    if (error.code === 'RECORD_INVALID') expect(error.data.record).toMatch(/^(receipt|log) \d+$/);
    else
      expect(error.data.field, leaf.join('.')).toMatch(/^(receipts\[\d+\]|receiptsRoot|logsBloom|gasUsed)/);
    seen++;
  }
  expect(seen).toBeGreaterThanOrEqual(5);
}

const NUMBERS = [
  47218, 1000000, 4369999, 4662649, 12972264, 14764013, 15537393, 15537394, 18500000, 19433903, 22431084,
  22431086, 22869878,
];

describe.each(ALL)('a changed nibble in $title', (source) => {
  it.each(NUMBERS)('in any header field of block %i fails the header hash, or names the field', (number) => {
    const answer = source.block('forks', number);
    for (const path of headerPaths(answer)) {
      const field = path.at(-1);
      if (field === 'size' && answer.block.uncles.length > 0) continue;
      const { data } = tamper(answer, path);
      if (field === 'size') expect(data).toMatchObject({ proof: 'consistency', field: 'size' });
      else expect(data, String(field)).toMatchObject({ proof: 'headerHash', field: 'hash' });
    }
  });

  it.each([
    [47218, '0x0'],
    [22869878, '0x0'],
    [22869878, '0x1'],
    [22869878, '0x2'],
    [22869878, '0x3'],
    [22869878, '0x4'],
    [22431086, '0x4'],
  ])('in any proved field of a transaction is named (%i, type %s)', (number, type) =>
    tamperTransaction(source.block('forks', number), type),
  );

  it('in any proved field of a transaction with an access list is named', () =>
    tamperTransaction(source.block('forks', 18500000), '0x2', true));

  it.each([
    [47218, '0x0'],
    [12972264, '0x0'],
    [22869878, '0x1'],
    [22869878, '0x2'],
    [22869878, '0x3'],
    [22869878, '0x4'],
  ])('in any proved field of a receipt or its logs is named (%i, type %s)', (number, type) =>
    tamperReceipt(source.block('forks', number), type),
  );

  it('in any field of a withdrawal fails the root of the withdrawals', () => {
    const answer = source.block('forks', 18500000);
    for (const leaf of leaves(answer.block.withdrawals![3])) {
      const { data } = tamper(answer, ['block', 'withdrawals', 3, ...leaf]);
      expect(data, leaf.join('.')).toMatchObject({ proof: 'withdrawalsRoot' });
    }
    expect(tamper(answer, ['block', 'withdrawals'], []).message).toMatch(
      /^Block 18500000: withdrawalsRoot recomputed from 0 withdrawals is 0x[0-9a-f]{64}, the header says 0x/,
    );
  });
});

describe.each(ALL)('a changed nibble in blocks of OP in $title', (source) => {
  it('in any header field fails the header hash', () => {
    for (const answer of source.blocks('optimism')) {
      for (const path of headerPaths(answer).filter((path) => path.at(-1) !== 'size')) {
        expect(tamper(answer, path).data, `${answer.number} ${path}`).toMatchObject({ proof: 'headerHash' });
      }
    }
  });

  it.each(['0x7e', '0x0', '0x2'])('in any proved field of a transaction of type %s is named', (type) =>
    tamperTransaction(getBlockOfOp(source), type),
  );

  it.each(['0x7e', '0x0', '0x2'])(
    'in any proved field of a receipt of type %s or its logs is named',
    (type) => tamperReceipt(getBlockOfOp(source), type),
  );
});

describe.skipIf(GIVEN === null)('a changed nibble in a block of OP before Bedrock (needs RECORDINGS)', () => {
  it('in any proved field of a transaction is named', () =>
    tamperTransaction(getGiven().block('optimism', 1), undefined));

  it('in any proved field of a receipt or its logs is named', () =>
    tamperReceipt(getGiven().block('optimism', 1), undefined));
});

describe.each(ALL)('of $title, a block put together wrongly', (source) => {
  const block = () => source.block('forks', 12972264);
  const HASH = '0x[0-9a-f]{64}';
  const failure = (answer: Recorded) => thrown(() => prover.proveBlock(answer)) as PackhouseError;

  it('lacks a receipt', () => {
    const answer = block();
    const { length } = answer.receipts!;
    answer.receipts!.splice(7, 1);
    expect(failure(answer)).toMatchObject({
      code: 'PROOF_FAILED',
      message: `Block 12972264: receipts.length is ${length - 1}, expected ${length}: a transaction has one receipt.`,
      data: {
        block: 12972264,
        proof: 'consistency',
        field: 'receipts.length',
        expected: String(length),
        got: String(length - 1),
      },
    });
  });

  it('has two receipts in each other’s place', () => {
    const answer = block();
    const receipts = answer.receipts!;
    [receipts[3], receipts[4]] = [receipts[4]!, receipts[3]!];
    expect(failure(answer).data).toMatchObject({ field: 'receipts[3].transactionHash' });
  });

  it('has the bodies of two receipts swapped, with every link set right', () => {
    const answer = block();
    const receipts = answer.receipts!;
    const [a, b] = [receipts[3]!, receipts[4]!];
    [a.logs, b.logs] = [[], []];
    a.logsBloom = b.logsBloom = `0x${'0'.repeat(512)}`;
    expect(failure(answer).data.proof).toMatch(/receiptsRoot|logsBloom|consistency/);
  });

  it('lacks the last log, with the blooms set right', () => {
    const answer = source.block('forks', 1000000);
    const at = answer.receipts!.findIndex((receipt) => receipt.logs.length > 0);
    answer.receipts![at]!.logs.pop();
    expect(failure(answer).data).toMatchObject({ proof: 'logsBloom', field: `receipts[${at}].logsBloom` });
    answer.receipts![at]!.logsBloom = `0x${'0'.repeat(512)}`;
    expect(failure(answer).data.proof).toMatch(/logsBloom|receiptsRoot/);
  });

  it('lacks a log in the middle', () => {
    const answer = block();
    const receipt = answer.receipts!.findIndex(({ logs }) => logs.length > 2);
    answer.receipts![receipt]!.logs.splice(1, 1);
    expect(failure(answer).data.field).toBe(`receipts[${receipt}].logs[1].logIndex`);
  });

  it('has a transaction twice', () => {
    const answer = block();
    answer.block.transactions.splice(5, 0, { ...answer.block.transactions[5]! });
    expect(failure(answer).data.field).toBe('transactions[6].transactionIndex');
  });

  it('lacks the last transaction', () => {
    const answer = block();
    answer.block.transactions.pop();
    answer.receipts!.pop();
    const { length } = answer.receipts!;
    expect(failure(answer)).toMatchObject({
      data: { proof: 'transactionsRoot' },
      message: expect.stringMatching(
        new RegExp(
          `^Block 12972264: transactionsRoot recomputed from ${length} transactions is ${HASH}, the header says ${HASH}\\.$`,
        ),
      ),
    });
  });

  it('has a transaction of another block, dressed up as its own', () => {
    const answer = block();
    const foreign = source.block('forks', 12900060).block.transactions[0]!;
    const { blockHash, blockNumber, transactionIndex } = answer.block.transactions[0]!;
    answer.block.transactions[0] = { ...foreign, blockHash, blockNumber, transactionIndex };
    expect(failure(answer).data).toMatchObject({ proof: 'transactionsRoot' });
  });

  it('has a receipt whose gas was moved to its neighbour', () => {
    const answer = block();
    const receipt = answer.receipts![10]!;
    receipt.gasUsed = `0x${(Number(receipt.gasUsed) + 1).toString(16)}`;
    receipt.cumulativeGasUsed = `0x${(Number(receipt.cumulativeGasUsed) + 1).toString(16)}`;
    const next = answer.receipts![11]!;
    next.gasUsed = `0x${(Number(next.gasUsed) - 1).toString(16)}`;
    expect(failure(answer)).toMatchObject({
      data: { proof: 'receiptsRoot', field: 'receiptsRoot' },
      message: expect.stringMatching(
        new RegExp(`^Block 12972264: receiptsRoot recomputed from ${answer.receipts!.length} receipts is 0x`),
      ),
    });
  });

  it('has the receipts of another block', () => {
    const answer = block();
    const [foreign] = source.block('row', 17686110).receipts!;
    answer.receipts = answer.receipts!.map(() => foreign!);
    expect(failure(answer)).toMatchObject({
      data: { field: 'receipts[0].blockHash' },
      message: expect.stringContaining('the receipt is of another block'),
    });
  });

  it('claims uncles that its header denies, or hides those it has', () => {
    const none = block();
    none.block.uncles = [none.block.hash as string];
    expect(failure(none).data).toMatchObject({ field: 'uncles' });
    const two = source.block('forks', 4662649);
    two.block.uncles = [];
    expect(failure(two).data).toMatchObject({ field: 'uncles' });
  });

  it('is empty, but its header commits to receipts', async () => {
    const trusting = await createProver({ ...POLICY, header: 'trust' });
    const { block: empty } = source.blocks('early').find(({ block }) => block.transactions.length === 0)!;
    empty.receiptsRoot = `0x${'1'.repeat(64)}`;
    expect(thrown(() => trusting.proveBlock({ block: empty }))).toMatchObject({
      data: { proof: 'receiptsRoot' },
    });
  });
});
