import { EMPTY_ROOT } from '../encode/trie-root.js';
import { normalQuantity, toQuantity } from '../record/hex.js';
import type { Raw } from '../record/reader.js';
import { DEPOSIT, type TransactionRecord } from '../record/transaction.js';
import {
  isNoise,
  lacksField,
  RECEIPT_TYPE_FIELDS,
  TRANSACTION_TYPE_FIELDS,
  type TypeField,
} from '../record/type-fields.js';

/*
 * Records as nodes say them, with the fields filled in that are absent (or null) and follow from others, so that they
 * do not depend on the make or age of the node, and without what some clients write into fields that the type lacks
 * (NOISE). What is filled in is read and checked like the rest; a value that is no object stays for the reader to refuse.
 */

const GAS_PER_BLOB = 131_072;
const ZEROS = `0x${'0'.repeat(40)}`;

/** A size that no block has; it is put right with the length of the block's RLP. */
export const NO_SIZE = '0x0';

/** A block: no withdrawals if their root says so, or on the OP stack, which has none; `size` becomes NO_SIZE. */
export function completeBlock(value: unknown): unknown {
  if (!isObject(value)) return value;
  const more: Record<string, unknown> = {};
  if (value.size == null) more.size = NO_SIZE;
  const { withdrawals, withdrawalsRoot } = value;
  if (withdrawals == null && withdrawalsRoot != null) {
    const hasNone = String(withdrawalsRoot).toLowerCase() === EMPTY_ROOT || beginsWithDeposit(value);
    if (hasNone) more.withdrawals = [];
  }
  return withMore(value, more);
}

/** Whether the block is of the OP stack, whose first transaction is a deposit. */
function beginsWithDeposit({ transactions }: Raw): boolean {
  const first: unknown = Array.isArray(transactions) ? transactions[0] : undefined;
  return isObject(first) && kindOf(first.type) === DEPOSIT && first.sourceHash != null;
}

/**
 * A transaction: its type, the chain that a legacy one was signed for (EIP-155); of types 1 to 4 (EIP-2718) the chain,
 * an empty access list, and `v` and `yParity` from each other.
 */
export function completeTransaction(value: unknown, chainId: number | undefined): unknown {
  if (!isObject(value)) return value;
  const more: Record<string, unknown> = {};
  const kind = kindOf(value.type);
  if (kind !== undefined) dropNoise(value, TRANSACTION_TYPE_FIELDS, kind, more);
  if (value.type == null) more.type = '0x0';
  if (value.chainId == null && kind === 0) {
    const chain = chainOfV(value.v);
    if (chain !== undefined) more.chainId = chain;
  }
  if (kind !== undefined && kind >= 1 && kind <= 4) {
    if (value.accessList == null) more.accessList = [];
    if (value.yParity == null && value.v != null) more.yParity = value.v;
    if (value.v == null && value.yParity != null) more.v = value.yParity;
    if (value.chainId == null && chainId !== undefined) more.chainId = toQuantity(chainId);
  }
  return withMore(value, more);
}

/** What receipts follow from beside their transactions. */
interface ReceiptFacts {
  /** Whether the rules of prices hold. */
  prices: boolean;
  /** Undefined: it may be another. */
  blobPrice: string | undefined;
  /** Notes a field that was wrong and is put right. */
  correct: (field: string) => void;
}

/**
 * A receipt: what it repeats of its transaction, and what follows from it. The first generation of the OP stack names no
 * sender, and writes zeros instead of no new contract.
 */
export function completeReceipt(value: unknown, tx: TransactionRecord, facts: ReceiptFacts): unknown {
  if (!isObject(value)) return value;
  const { prices, blobPrice, correct } = facts;
  const more: Record<string, unknown> = {};
  if (value.from == null) {
    more.from = tx.from;
    if (value.contractAddress === ZEROS && tx.to !== null) more.contractAddress = null;
  }
  if (value.to === undefined) more.to = tx.to;
  if (value.contractAddress === undefined && tx.to !== null) more.contractAddress = null;
  if (value.type == null && tx.type != null) more.type = tx.type;
  if (tx.other === undefined) dropNoise(value, RECEIPT_TYPE_FIELDS, tx.kind, more);
  const signed = prices && tx.other === undefined && tx.kind !== DEPOSIT;
  if (signed && value.effectiveGasPrice == null && tx.gasPrice != null) {
    more.effectiveGasPrice = tx.gasPrice;
  }
  if (signed && tx.kind === 3 && value.blobGasUsed == null) {
    more.blobGasUsed = blobGas(tx);
  }
  if (signed && tx.kind === 3 && blobPrice !== undefined) {
    const { blobGasPrice: given } = value;
    const price = typeof given === 'string' ? normalQuantity(given) : undefined;
    const isWrong = price !== undefined && price !== blobPrice;
    if (isWrong) correct('blobGasPrice');
    if (isWrong || given == null) more.blobGasPrice = blobPrice;
  }
  return withMore(value, more);
}

/** The number of one of Ethereum's types, or of a deposit, in whatever form; absent it is 0. */
function kindOf(type: unknown): number | undefined {
  if (type == null) return 0;
  const kind = Number(typeof type === 'string' ? normalQuantity(type) : undefined);
  return kind <= 4 || kind === DEPOSIT ? kind : undefined;
}

/** Sets what clients write into fields that the type lacks to undefined. */
function dropNoise(
  value: Raw,
  fields: readonly TypeField[],
  kind: number,
  more: Record<string, unknown>,
): void {
  for (const field of fields) {
    const { name } = field;
    if (value[name] !== undefined && lacksField(field, kind) && isNoise(name, value[name]))
      more[name] = undefined;
  }
}

/** `v` is 35 or 36 and twice the chain's id; undefined if it is not. */
function chainOfV(v: unknown): string | undefined {
  const quantity = typeof v === 'string' ? normalQuantity(v) : undefined;
  if (quantity === undefined || quantity.length > 18) return undefined;
  const number = BigInt(quantity);
  return number < 35n ? undefined : toQuantity((number - 35n) >> 1n);
}

/** Gas of a transaction's blobs, as QUANTITY: each uses GAS_PER_BLOB (EIP-4844). */
export function blobGas({ blobVersionedHashes }: TransactionRecord): string {
  return toQuantity(GAS_PER_BLOB * (blobVersionedHashes?.length ?? 0));
}

function isObject(value: unknown): value is Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withMore(value: Raw, more: Raw): Raw {
  for (const _ in more) return { ...value, ...more };
  return value;
}
