import { DEPOSIT } from './transaction.js';

/** A field of transactions or receipts that only some types have. */
export interface TypeField {
  name: string;
  /** Of Ethereum's types 0 to 4 and deposits, those that have it. */
  types: readonly number[];
  source: string;
}

const FEES = [2, 3, 4];
const BLOBS = [3];
const DEPOSITS = [DEPOSIT];
const DEPOSIT_SOURCE = "the OP stack's specification: deposits";

/** Fields of transactions that only some types encode. */
export const TRANSACTION_TYPE_FIELDS = [
  { name: 'accessList', types: [1, 2, 3, 4], source: 'EIP-2930' },
  { name: 'maxFeePerGas', types: FEES, source: 'EIP-1559' },
  { name: 'maxPriorityFeePerGas', types: FEES, source: 'EIP-1559' },
  { name: 'maxFeePerBlobGas', types: BLOBS, source: 'EIP-4844' },
  { name: 'blobVersionedHashes', types: BLOBS, source: 'EIP-4844' },
  { name: 'authorizationList', types: [4], source: 'EIP-7702' },
  { name: 'sourceHash', types: DEPOSITS, source: DEPOSIT_SOURCE },
  { name: 'mint', types: DEPOSITS, source: DEPOSIT_SOURCE },
  { name: 'isSystemTx', types: DEPOSITS, source: DEPOSIT_SOURCE },
  { name: 'depositReceiptVersion', types: DEPOSITS, source: 'op-geth: internal/ethapi/api.go' },
] as const satisfies readonly TypeField[];

/**
 * Fields of receipts that only some types have. Since Jovian a block of the OP stack has `blobGasUsed` in the receipts of
 * all types, beside `daFootprintGasScalar`: the transaction's share of the header's.
 */
export const RECEIPT_TYPE_FIELDS = [
  { name: 'blobGasUsed', types: BLOBS, source: 'EIP-4844' },
  { name: 'blobGasPrice', types: BLOBS, source: 'EIP-4844' },
  { name: 'depositNonce', types: DEPOSITS, source: `${DEPOSIT_SOURCE} (Regolith)` },
  { name: 'depositReceiptVersion', types: DEPOSITS, source: `${DEPOSIT_SOURCE} (Canyon)` },
] as const satisfies readonly TypeField[];

/** What clients write into fields that the type lacks. It is left out of the text; everything else is refused. */
interface Noise {
  /** `any`: whatever the type lacks. */
  field: string;
  value: string;
  clients: string;
}

/** See `isNoise`. */
export const NOISE: readonly Noise[] = [
  {
    field: 'any',
    value: 'null',
    clients: 'Erigon, for the fees of types 0 and 1 (erigontech/erigon#23595)',
  },
  {
    field: 'accessList, blobVersionedHashes, authorizationList',
    value: '[]',
    clients: 'those whose records have all lists',
  },
  {
    field: 'blobGasPrice',
    value: 'the price of the block',
    clients: 'Anvil before foundry-rs/foundry#16597, Reth before paradigmxyz/reth#7129',
  },
];

/** Whether a type lacks the field. */
export function lacksField({ types }: TypeField, kind: number): boolean {
  return !types.includes(kind);
}

const LISTS: ReadonlySet<string> = new Set(['accessList', 'blobVersionedHashes', 'authorizationList']);
const QUANTITY = /^0x[0-9a-fA-F]{1,64}$/;

/** Whether a value that a node gives in a field that the type lacks says nothing (NOISE). */
export function isNoise(field: string, value: unknown): boolean {
  if (value == null) return true;
  if (LISTS.has(field)) return Array.isArray(value) && value.length === 0;
  return field === 'blobGasPrice' && typeof value === 'string' && QUANTITY.test(value);
}
