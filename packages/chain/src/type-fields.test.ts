import { readFileSync } from 'node:fs';
import { ALL, GIVEN, getGiven, type Json, type Recorded, type Recordings } from '@packhouse/recordings';
import { isPackhouseError } from '@packhouse/runtime';
import { beforeAll, describe, expect, it } from 'vitest';
import { getBlockOfOp, otherBlocks, POLICY } from '../test/recorded.js';
import { flipped, thrown } from '../test/tamper.js';
import { createProver, type Prover } from './create-prover.js';
import { DEPOSIT } from './record/transaction.js';
import { NOISE, RECEIPT_TYPE_FIELDS, TRANSACTION_TYPE_FIELDS } from './record/type-fields.js';

const ADDRESS = `0x${'12'.repeat(20)}`;
const WORD = `0x${'12'.repeat(32)}`;

/** What a node could write into a field that the type lacks. */
const LIES: Readonly<Record<string, readonly unknown[]>> = {
  accessList: [[{ address: ADDRESS, storageKeys: [WORD] }], [{ address: ADDRESS, storageKeys: [] }]],
  maxFeePerGas: ['0x0', '0x1', '0x00ff'],
  maxPriorityFeePerGas: ['0x0', '0x1', '0x00FF'],
  maxFeePerBlobGas: ['0x0', '0x1'],
  blobVersionedHashes: [[WORD]],
  authorizationList: [
    [{ address: ADDRESS, chainId: '0x1', nonce: '0x0', r: '0x1', s: '0x2', yParity: '0x0' }],
  ],
  sourceHash: [WORD, `0x${'0'.repeat(64)}`],
  mint: ['0x0', '0x1'],
  isSystemTx: [false, true],
  depositReceiptVersion: ['0x0', '0x1'],
  blobGasUsed: ['0x0', '0x20000'],
  blobGasPrice: [],
  depositNonce: ['0x0', '0x1'],
};

/** Fields of which the scanner takes null, too. */
const FAST_NULL = ['maxFeePerGas', 'maxPriorityFeePerGas'];

type List = 'transactions' | 'receipts';
const KINDS = [0, 1, 2, 3, 4, DEPOSIT];
const toType = (kind: number): string => `0x${kind.toString(16)}`;

/** A block that has the type, a small one where there is one, its chain, and where. */
function example(source: Recordings, kind: number): { answer: Recorded; chainId: number; index: number } {
  const isDeposit = kind === DEPOSIT;
  const answer = isDeposit
    ? getBlockOfOp(source)
    : source.block('forks', kind === 0 || kind === 2 ? 14764013 : 22869878);
  const index = answer.block.transactions.findIndex(({ type }) => type === toType(kind));
  return { answer, chainId: isDeposit ? 10 : 1, index };
}

const toRecord = ({ block, receipts }: Recorded, list: List, index: number): Json =>
  (list === 'receipts' ? receipts! : block.transactions)[index]!;

const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value), 'latin1');

/** What the scanner says of the same answer: its texts, or why it leaves the block to the prover. */
function scan(prover: Prover, { block, receipts }: Recorded): string {
  const { transactions, ...header } = block;
  const scanned = prover.proveRaw({
    header: { ...header, transactions: [] },
    transactions: bytes(transactions),
    ...(receipts === undefined ? {} : { receipts: bytes(receipts) }),
  });
  return typeof scanned === 'string' ? scanned : JSON.stringify(Object.values(scanned.texts).map(String));
}

function prove(prover: Prover, { block, receipts }: Recorded): string {
  const { texts } = prover.proveBlock(receipts === undefined ? { block } : { block, receipts });
  const { blockHead, transactions, blockTail } = texts;
  return JSON.stringify([blockHead, transactions, blockTail, texts.receipts, texts.logs].filter(Boolean));
}

const DECLINED = /^(transactions|receipts|header)$/;

/** Expects that neither prover nor scanner takes the answer, and that the prover names the field. */
function expectRefused(
  prover: Prover,
  answer: Recorded,
  field: string | RegExp,
  code = 'PROOF_FAILED',
): void {
  expect(scan(prover, answer)).toMatch(DECLINED);
  const error = thrown(() => prove(prover, answer));
  expect(isPackhouseError(error), String(error)).toBe(true);
  expect(error).toMatchObject({ code, data: { field: expect.stringMatching(field) } });
}

/** Expects that the text is that of the truth, by objects and, if the scanner accepts it, by bytes. */
function expectWritten(prover: Prover, answer: Recorded, truth: string, byBytes = true): void {
  expect(prove(prover, answer) === truth).toBe(true);
  const scanned = scan(prover, answer);
  if (byBytes) expect(scanned === truth, scanned.slice(0, 20)).toBe(true);
  else expect(scanned === truth || DECLINED.test(scanned)).toBe(true);
}

const provers = new Map<number, Prover>();
beforeAll(async () => {
  for (const chainId of [1, 10, 25, 100, 137, 421_614]) {
    provers.set(chainId, await createProver({ ...POLICY, chainId }));
  }
});

const lies = (['transactions', 'receipts'] as const).flatMap((list) =>
  (list === 'receipts' ? RECEIPT_TYPE_FIELDS : TRANSACTION_TYPE_FIELDS).flatMap(({ name, types }) =>
    KINDS.filter((kind) => !(types as readonly number[]).includes(kind)).map((kind) => ({
      list,
      name,
      kind,
    })),
  ),
);

/** What holds of the fields that records of some types lack. */
function tellLies(source: Recordings, kinds: readonly number[]): void {
  const rows = lies.filter(({ kind }) => kinds.includes(kind));

  it.each(rows)('are refused: $name in $list of type $kind', ({ list, name, kind }) => {
    const { answer, chainId, index } = example(source, kind);
    const record = toRecord(answer, list, index);
    const before = record[name];
    for (const lie of LIES[name]!) {
      // the OP stack's share of the header's gas, of which the sum is checked
      if (kind === DEPOSIT && name === 'blobGasUsed') continue;
      record[name] = lie;
      expectRefused(provers.get(chainId)!, answer, `${list}\\[${index}\\].${name}`);
    }
    record[name] = before;
  });

  it.each(rows)('are left out if they say nothing: $name in $list of type $kind', ({ list, name, kind }) => {
    const { answer, chainId, index } = example(source, kind);
    const prover = provers.get(chainId)!;
    const truth = prove(prover, answer);
    const record = toRecord(answer, list, index);
    if (record[name] !== undefined) return;
    const isList = Array.isArray(LIES[name]![0]);
    for (const value of [
      null,
      ...(isList ? [[]] : []),
      ...(name === 'blobGasPrice' ? ['0x1', '0x0A'] : []),
    ]) {
      record[name] = value;
      const isFast = isList
        ? value !== null
        : value !== '0x0A' && (value !== null || FAST_NULL.includes(name));
      expectWritten(prover, answer, truth, isFast);
    }
  });
}

describe.each(ALL)('fields of other types in $title', (source) => {
  tellLies(source, [0, 1, 2, 3, 4]);

  it("that are the OP stack's shares of blobGasUsed are refused on a chain without deposits", () => {
    const { answer, index } = example(source, 2);
    Object.assign(answer.receipts![index]!, { blobGasUsed: '0x9c40', daFootprintGasScalar: '0x190' });
    expectRefused(provers.get(1)!, answer, `receipts\\[${index}\\].blobGasUsed`);
  });

  it('are refused in what was published, and noise that was published is not', async () => {
    const leaving = await createProver({ ...POLICY, chainId: 1, derived: 'leave' });
    const { answer, index } = example(source, 2);
    Object.assign(answer.receipts![index]!, { blobGasPrice: '0x1', blobGasUsed: null });
    Object.assign(answer.block.transactions[index]!, { authorizationList: [], mint: null });
    expect(thrown(() => prove(leaving, answer))).toBeUndefined();
    Object.assign(answer.block.transactions[index]!, { mint: '0x1' });
    expect(thrown(() => prove(leaving, answer))).toMatchObject({ code: 'PROOF_FAILED' });
  });
});

describe.each(ALL)('fields of other types in a deposit in $title', (source) => tellLies(source, [DEPOSIT]));

describe.skipIf(GIVEN === null)('fields of other types on other networks (needs RECORDINGS)', () => {
  it.each([
    ['gnosis 20000000', 100],
    ['arb-sepolia 185232421', 421_614],
    ['polygon 50000000', 137],
    ['cronos 68215', 25],
  ])('are refused on %s', (name, chainId) => {
    const answer = otherBlocks().get(name)!;
    const index = answer.block.transactions.findIndex(({ type }) => type === '0x2' || type === '0x0');
    const tx = answer.block.transactions[index]!;
    for (const field of ['authorizationList', 'sourceHash', 'mint', 'maxFeePerBlobGas'] as const) {
      tx[field] = LIES[field]![0];
      const error = thrown(() => prove(provers.get(chainId)!, answer));
      expect(error).toMatchObject({ data: { field: `transactions[${index}].${field}` } });
      delete tx[field];
    }
    if (answer.receipts === undefined) return;
    answer.receipts[index]!.contractAddress = ADDRESS;
    const error = thrown(() => prove(provers.get(chainId)!, answer));
    expect(error).toMatchObject({ data: { field: `receipts[${index}].contractAddress` } });
  });
});

describe.each(ALL)('the parity of a legacy signature in $title', (source) => {
  it.each([22869878, 12972264, 1000000])('follows from v (%i)', (number) => {
    const prover = provers.get(1)!;
    const answer = source.block('forks', number);
    const seen = new Set<unknown>();
    for (const [index, tx] of answer.block.transactions.entries()) {
      if ((tx.type ?? '0x0') !== '0x0' || seen.has(tx.v)) continue;
      seen.add(tx.v);
      const v = Number(tx.v);
      const parity = v >= 35 ? (v - 35) % 2 : v - 27;
      tx.yParity = `0x${parity}`;
      expect(prove(prover, answer)).toContain(`yParity\\":\\"0x${parity}`);
      for (const wrong of [`0x${1 - parity}`, tx.v, '0x2', `0x0${1 - parity}`]) {
        tx.yParity = wrong;
        expectRefused(prover, answer, `transactions\\[${index}\\].yParity`);
      }
      delete tx.yParity;
    }
    expect(seen.size).toBeGreaterThan(0);
  });
});

describe.each(ALL)('a deposit in $title', (source) => {
  it.each([
    ['gasPrice', '0x1'],
    ['v', '0x1'],
    ['v', '0x1b'],
    ['yParity', '0x1'],
    ['r', '0x1'],
    ['s', WORD],
    ['depositReceiptVersion', '0x2'],
    ['depositReceiptVersion', '0x0'],
    ['nonce', '0x1'],
  ])('is not signed, and repeats its receipt: %s %s is refused', (name, lie) => {
    const { answer, index } = example(source, DEPOSIT);
    answer.block.transactions[index]![name] = lie;
    // v is the parity under another name, which is compared first if it is there
    const { yParity } = answer.block.transactions[index]!;
    const field = name === 'v' && yParity !== undefined ? 'yParity' : name;
    expectRefused(provers.get(10)!, answer, `transactions\\[${index}\\].${field}`);
  });

  it('has no other nonce than its receipt', () => {
    const { answer, index } = example(source, DEPOSIT);
    answer.block.transactions[index]!.nonce = flipped(answer.receipts![index]!.depositNonce);
    expectRefused(provers.get(10)!, answer, `transactions\\[${index}\\].nonce`);
  });

  it('has the nonce of its receipt, or 0, and no price, in any form', () => {
    const { answer, index } = example(source, DEPOSIT);
    const tx = answer.block.transactions[index]!;
    const own = String(answer.receipts![index]!.depositNonce);
    for (const nonce of ['0x0', own, `0x0${own.slice(2).toUpperCase()}`, null]) {
      tx.nonce = nonce;
      expect(
        thrown(() => prove(provers.get(10)!, answer)),
        String(nonce),
      ).toBeUndefined();
    }
    for (const nonce of ['0x0', own]) {
      tx.nonce = nonce;
      expect(scan(provers.get(10)!, answer) === prove(provers.get(10)!, answer)).toBe(true);
    }
    for (const name of ['gasPrice', 'v', 'r', 's', 'yParity', 'depositReceiptVersion']) delete tx[name];
    expect(scan(provers.get(10)!, answer) === prove(provers.get(10)!, answer)).toBe(true);
    answer.receipts![index]!.effectiveGasPrice = '0x1';
    expectRefused(provers.get(10)!, answer, `receipts\\[${index}\\].effectiveGasPrice`);
  });

  it('names the transactions as what is false, once the root proves its receipt', () => {
    const { answer, index } = example(source, DEPOSIT);
    answer.block.transactions[index]!.nonce = '0x1';
    expect(thrown(() => prove(provers.get(10)!, answer))).toMatchObject({
      data: { kinds: ['blocks', 'transactions'] },
    });
  });
});

describe.skipIf(GIVEN === null)(
  "the OP stack's shares of blobGasUsed, since Jovian (needs RECORDINGS)",
  () => {
    const block = () => getGiven().block('optimism', 154497277);

    it.each<[string, (receipts: Json[]) => void]>([
      ['one is moved', ([, first]) => Object.assign(first!, { blobGasUsed: '0x9c41' })],
      [
        'two are swapped by one',
        ([, first, second]) => {
          first!.blobGasUsed = '0x9c41';
          second!.blobGasUsed = '0x2b5bf0';
        },
      ],
      ['one is absent', ([, first]) => void delete first!.blobGasUsed],
      ['one is null', ([, first]) => Object.assign(first!, { blobGasUsed: null })],
      ['one is huge', ([, first]) => Object.assign(first!, { blobGasUsed: '0xffffffffffffffffffff' })],
      ['one has no daFootprintGasScalar', ([, first]) => void delete first!.daFootprintGasScalar],
      ['one has null for that', ([, first]) => Object.assign(first!, { daFootprintGasScalar: null })],
    ])('add up to the header, so it is refused if %s', (_, lie) => {
      const answer = block();
      lie(answer.receipts!);
      expectRefused(
        provers.get(10)!,
        answer,
        /blobGasUsed$/,
        expect.stringMatching(/^(PROOF_FAILED|RECORD_INVALID)$/) as never,
      );
    });

    it('do not count that of the deposit, and may be left out of all', () => {
      const answer = block();
      delete answer.receipts![0]!.blobGasUsed;
      expect(scan(provers.get(10)!, answer) === prove(provers.get(10)!, answer)).toBe(true);
      for (const receipt of answer.receipts!) delete receipt.blobGasUsed;
      expect(scan(provers.get(10)!, answer) === prove(provers.get(10)!, answer)).toBe(true);
    });
  },
);

describe.each(ALL)("a record's time in $title", (source) => {
  const records: readonly [string, (answer: Recorded) => Json][] = [
    ['a transaction', ({ block }) => block.transactions[0]!],
    ['a receipt', ({ receipts }) => receipts![0]!],
    ['a log', ({ receipts }) => receipts!.find(({ logs }) => logs.length > 0)!.logs[0]!],
  ];
  const { at, number } = { at: 1_683_821_411, number: 17686110 };

  it.each(records)('is that of the block in %s, whatever its form', (_, toOne) => {
    const prover = provers.get(1)!;
    const answer = source.block('row', number);
    const one = toOne(answer);
    const time = Number(answer.block.timestamp);
    expect(time).not.toBe(at);
    one.blockTimestamp = answer.block.timestamp;
    const truth = prove(prover, answer);
    const hex = String(answer.block.timestamp).slice(2);
    for (const form of [time, String(time), `0x${hex.toUpperCase()}`, `0x00${hex}`]) {
      one.blockTimestamp = form;
      expectWritten(prover, answer, truth, false);
    }
    for (const wrong of [
      time + 1,
      String(time - 1),
      `0x${(time + 1).toString(16)}`,
      0,
      '0',
      '0x0',
      time * 1_000,
    ]) {
      one.blockTimestamp = wrong;
      expectRefused(prover, answer, /blockTimestamp$/);
    }
    for (const odd of [true, {}, [], '', 'now', -time, time + 0.5, '0x', `${time}.0`, ` ${time}`, 1e21]) {
      one.blockTimestamp = odd;
      expectRefused(prover, answer, 'blockTimestamp', 'RECORD_INVALID');
    }
    delete one.blockTimestamp;
    const without = prove(prover, answer);
    one.blockTimestamp = null;
    expectWritten(prover, answer, without, false);
  });

  it("is scanned as nodes write it, Anvil's number in receipts too", () => {
    const answer = source.block('row', number);
    for (const tx of answer.block.transactions) tx.blockTimestamp = answer.block.timestamp;
    for (const receipt of answer.receipts!) receipt.blockTimestamp = Number(answer.block.timestamp);
    expect(scan(provers.get(1)!, answer) === prove(provers.get(1)!, answer)).toBe(true);
  });
});

const forms = (value: string): string[] => [`0x0${value.slice(2)}`, `0x000${value.slice(2).toUpperCase()}`];

/** Expects that what is filled in for other forms of the fields of a type is what the canonical forms say. */
function expectFilled(source: Recordings, kind: number): void {
  const { answer, chainId, index } = example(source, kind);
  const prover = provers.get(chainId)!;
  const tx = answer.block.transactions[index]!;
  const receipt = answer.receipts![index]!;
  const truth = prove(prover, answer);
  const before = { ...tx };
  for (const type of forms(toType(kind))) {
    Object.assign(tx, before, { type });
    receipt.type = type;
    if (kind > 0 && kind < 5) for (const name of ['yParity', 'chainId']) delete tx[name];
    if (kind === 0) delete tx.chainId;
    if ((tx.accessList as unknown[] | undefined)?.length === 0) tx.accessList = null;
    if (kind < 2) Object.assign(tx, { maxFeePerGas: null, maxPriorityFeePerGas: null });
    expectWritten(prover, answer, truth, false);
  }
  for (const name of ['chainId', 'v', 'yParity', 'nonce', 'gas', 'gasPrice', 'mint']) {
    if (typeof before[name] !== 'string') continue;
    for (const value of forms(before[name])) {
      Object.assign(tx, before, { [name]: value });
      if (name === 'v') delete tx.yParity;
      if (name === 'v' && kind === 0) delete tx.chainId;
      const isFilled = name !== 'v' || kind === 0 || (before.yParity !== undefined && kind <= 4);
      if (isFilled) expectWritten(prover, answer, truth, false);
    }
  }
}

describe.each(ALL)('other forms of the same in $title', (source) => {
  it.each([0, 1, 2, 3, 4])('are filled in as the canonical form is: type %i', (kind) =>
    expectFilled(source, kind),
  );

  it('of a contract address are absent from calls, and never an address', () => {
    const { answer, index } = example(source, 2);
    const receipt = answer.receipts![index]!;
    const truth = prove(provers.get(1)!, answer);
    delete receipt.contractAddress;
    expectWritten(provers.get(1)!, answer, truth);
    for (const lie of [ADDRESS, receipt.to, `0x${'0'.repeat(40)}`]) {
      receipt.contractAddress = lie;
      expectRefused(provers.get(1)!, answer, `receipts\\[${index}\\].contractAddress`);
    }
  });
});

describe.each(ALL)('other forms of the same in a block of OP in $title', (source) => {
  it('are filled in as the canonical form is: a deposit', () => expectFilled(source, DEPOSIT));

  it('of the root say that there are no withdrawals', async () => {
    const prover = provers.get(10)!;
    const answer = getBlockOfOp(source);
    const truth = prove(prover, answer);
    delete answer.block.withdrawals;
    answer.block.transactions[0]!.type = '0x07E';
    answer.block.withdrawalsRoot = `0x${String(answer.block.withdrawalsRoot).slice(2).toUpperCase()}`;
    expect(prove(prover, answer) === truth).toBe(true);
  });
});

it('docs/proofs.md says which types have which fields, and what is dropped', () => {
  const page = readFileSync(new URL('../../../docs/proofs.md', import.meta.url), 'utf8');
  const rows = (head: string): string[][] =>
    page
      .split(`| ${head} |\n`)[1]!
      .split('\n\n')[0]!
      .split('\n')
      .slice(1)
      .map((line) => line.slice(2, -2).split(' | '));
  const name = (kind: number) => (kind === DEPOSIT ? 'deposits' : String(kind));
  const fields = (of: string, list: readonly { name: string; types: readonly number[]; source: string }[]) =>
    list.map((field) => [`\`${field.name}\``, of, field.types.map(name).join(', '), field.source]);
  expect(rows('field | of | types | source')).toEqual([
    ...fields('transactions', TRANSACTION_TYPE_FIELDS),
    ...fields('receipts', RECEIPT_TYPE_FIELDS),
  ]);
  const quoted = (list: string) => (list === 'any' ? list : list.replace(/\w+/g, '`$&`'));
  expect(rows('dropped elsewhere | value | written by')).toEqual(
    NOISE.map(({ field, value, clients }) => [quoted(field), value, clients]),
  );
});
