import { CLONE, type Json, type Recorded } from '@packhouse/recordings';
import { getBlockOfOp } from './recorded.js';

/** What is written of a field, in the words of docs/proofs.md. */
export type Claim = 'as given' | 'as given, a QUANTITY' | 'computed' | 'left out';

/** A row of the table of the normal form. */
export interface NormalForm {
  field: string;
  of: string;
  keep: Claim;
  drop: Claim;
  block: (typeof BLOCKS)[number];
  /** How clients write the same block. */
  shapes: readonly ((answer: Recorded) => void)[];
  /** The records, as they are in an answer, and in the text. */
  records(answer: Recorded): Json[];
  fields: readonly string[];
}

const forks = (number: number) => CLONE.block('forks', number);

/** Blocks that the rows are about. */
const BLOCKS = ['frontier', 'london', 'prague', 'sepolia', 'op'] as const;
export const TRUTHS: Readonly<Record<(typeof BLOCKS)[number], { chainId: number; make(): Recorded }>> = {
  frontier: { chainId: 1, make: () => forks(47_218) },
  london: { chainId: 1, make: () => forks(12_972_264) },
  prague: { chainId: 1, make: () => forks(22_869_878) },
  sepolia: {
    chainId: 11_155_111,
    make: () => CLONE.blocks('sepolia').find(({ receipts }) => receipts!.some(isFailedCreation))!,
  },
  op: { chainId: 10, make: () => getBlockOfOp(CLONE) },
};

const blockOf = ({ block }: Recorded): Json[] => [block];
const transactions = ({ block }: Recorded): Json[] => block.transactions;
const receipts = (answer: Recorded): Json[] => answer.receipts!;
const logs = (answer: Recorded): Json[] => answer.receipts!.flatMap((receipt) => receipt.logs);
const all = (answer: Recorded): Json[] =>
  [blockOf, transactions, receipts, logs].flatMap((records) => records(answer));
/** The place of a log among those of its transaction. */
const toPlace = (all: NonNullable<Recorded['receipts']>, log: Json) =>
  `0x${all
    .find(({ logs: of }) => of.includes(log as never))!
    .logs.indexOf(log as never)
    .toString(16)}`;
const isFailedCreation = ({ status, to }: Json) => status === '0x0' && to === null;
const unbound = (answer: Recorded) => transactions(answer).filter(({ v }) => v === '0x1b' || v === '0x1c');
const legacy = (answer: Recorded) => transactions(answer).filter(({ type }) => type === '0x0');
const deposits = (answer: Recorded) => transactions(answer).filter(({ type }) => type === '0x7e');
const ofDeposits = (answer: Recorded) => receipts(answer).filter(({ type }) => type === '0x7e');
const ofBlobs = (answer: Recorded) => receipts(answer).filter(({ type }) => type === '0x3');
const failed = (answer: Recorded) => receipts(answer).filter(isFailedCreation);
const authorizations = (answer: Recorded) =>
  transactions(answer).flatMap(({ authorizationList }) => (authorizationList as Json[] | undefined) ?? []);

/** Sets fields of all records, or removes those that are undefined. */
const set =
  (records: NormalForm['records'], change: (record: Json, answer: Recorded) => Json) =>
  (answer: Recorded) => {
    for (const record of records(answer)) {
      Object.assign(record, change(record, answer));
      for (const name of Object.keys(record)) if (record[name] === undefined) delete record[name];
    }
  };
const values = (records: NormalForm['records'], ...each: Json[]) =>
  each.map((fields) => set(records, () => fields));

const names = (text: string) => text.split(' ');
const cell = (fields: string) =>
  names(fields)
    .map((name) => `\`${name}\``)
    .join(', ');
const row = (
  [fields, of]: readonly [fields: string, of: string],
  [keep, drop]: readonly [keep: Claim, drop: Claim],
  block: NormalForm['block'],
  records: NormalForm['records'],
  shapes: NormalForm['shapes'],
): NormalForm => ({ field: cell(fields), of, keep, drop, block, records, shapes, fields: names(fields) });

const COMPUTED = ['computed', 'computed'] as const;
const DROPPED = ['as given', 'left out'] as const;
const ABSENT = undefined;
const ZERO = '0x0';

/** Rows of docs/proofs.md. */
export const NORMAL_FORMS: readonly NormalForm[] = [
  row(
    ['blobGasPrice', 'receipts of type 3'],
    COMPUTED,
    'prague',
    ofBlobs,
    values(ofBlobs, { blobGasPrice: ABSENT }, { blobGasPrice: null }, { blobGasPrice: '0x7' }),
  ),
  row(
    ['size', 'blocks without uncles'],
    COMPUTED,
    'prague',
    blockOf,
    values(blockOf, { size: ABSENT }, { size: null }, { size: '0x1' }),
  ),
  row(['logIndex', 'logs whose numbers begin again in each receipt'], COMPUTED, 'prague', logs, [
    set(logs, (log, { receipts: all }) => ({ logIndex: toPlace(all!, log) })),
  ]),
  row(
    ['chainId', 'legacy transactions with `v` 27 or 28'],
    DROPPED,
    'london',
    unbound,
    values(unbound, { chainId: ABSENT }, { chainId: null }, { chainId: ZERO }, { chainId: '0x1' }),
  ),
  row(['yParity', 'legacy transactions'], DROPPED, 'london', legacy, [
    set(legacy, () => ({ yParity: ABSENT })),
    set(legacy, ({ v }) => ({ yParity: Number(v) % 2 === 0 ? '0x1' : '0x0' })),
  ]),
  row(
    ['blockTimestamp', 'transactions, receipts, logs'],
    ['as given, a QUANTITY', 'left out'],
    'london',
    (answer) => all(answer).slice(1),
    [
      set(transactions, (_, { block }) => ({ blockTimestamp: block.timestamp })),
      set(logs, (_, { block }) => ({ blockTimestamp: block.timestamp })),
      set(receipts, (_, { block }) => ({ blockTimestamp: Number(block.timestamp) })),
      set(logs, (_, { block }) => ({ blockTimestamp: String(Number(block.timestamp)) })),
    ],
  ),
  row(
    ['author sealFields creates publicKey raw standardV transactionLogIndex', 'all, and what no table names'],
    DROPPED,
    'london',
    all,
    [
      set(transactions, () => ({ creates: null, publicKey: '0x12', raw: '0x34', standardV: ZERO })),
      set(blockOf, ({ miner }) => ({ author: miner, sealFields: ['0x12'] })),
      set(logs, (log, { receipts: all }) => ({ transactionLogIndex: toPlace(all!, log) })),
    ],
  ),
  row(
    ['status', 'receipts with a `root` of 32 bytes'],
    DROPPED,
    'frontier',
    receipts,
    values(receipts, { status: ABSENT }, { status: null }, { status: '0x1' }),
  ),
  row(
    ['root', 'receipts with a `status`'],
    DROPPED,
    'london',
    receipts,
    values(receipts, { root: ABSENT }, { root: null }, { root: '0x' }),
  ),
  row(
    ['contractAddress', 'receipts of contract creations that failed'],
    ['as given', 'computed'],
    'sepolia',
    failed,
    values(failed, { contractAddress: null }),
  ),
  row(
    ['totalDifficulty', 'blocks'],
    DROPPED,
    'london',
    blockOf,
    values(blockOf, { totalDifficulty: ABSENT }, { totalDifficulty: null }, { totalDifficulty: '0x12' }),
  ),
  row(
    ['totalDifficulty', 'blocks since the merge'],
    DROPPED,
    'prague',
    blockOf,
    values(blockOf, { totalDifficulty: ABSENT }, { totalDifficulty: '0xc70d815d562d3cfa955' }),
  ),
  row(['v', 'authorizations (EIP-7702)'], DROPPED, 'prague', authorizations, [
    set(authorizations, ({ v, yParity }) => ({ v: yParity ?? v })),
    set(authorizations, ({ v, yParity }) => ({ v: yParity ?? v, yParity: ABSENT })),
  ]),
  row(
    ['isSystemTx', 'deposits that are none'],
    DROPPED,
    'op',
    deposits,
    values(deposits, { isSystemTx: ABSENT }, { isSystemTx: false }),
  ),
  row(
    ['mint', 'deposits of nothing'],
    DROPPED,
    'op',
    deposits,
    values(deposits, { mint: ABSENT }, { mint: ZERO }),
  ),
  row(['gasPrice nonce v yParity chainId', 'deposits'], DROPPED, 'op', deposits, [
    set(deposits, () => ({ gasPrice: ABSENT, nonce: ABSENT, v: ABSENT, r: ABSENT, s: ABSENT })),
    set(deposits, () => ({ gasPrice: ZERO, nonce: ZERO, v: ZERO, r: ZERO, s: ZERO, yParity: ZERO })),
    set(deposits, () => ({ chainId: '0xa' })),
  ]),
  row(['depositReceiptVersion', 'transactions that are deposits'], DROPPED, 'op', deposits, [
    set(deposits, () => ({ depositReceiptVersion: ABSENT })),
    set(deposits, (_, answer) => ({ depositReceiptVersion: ofDeposits(answer)[0]!.depositReceiptVersion })),
  ]),
  row(
    ['effectiveGasPrice', 'receipts of deposits'],
    DROPPED,
    'op',
    ofDeposits,
    values(ofDeposits, { effectiveGasPrice: ABSENT }, { effectiveGasPrice: ZERO }),
  ),
];
