import { EMPTY_ROOT } from '../encode/trie-root.js';
import type { Raw } from '../record/reader.js';
import { DEPOSIT, type TransactionRecord } from '../record/transaction.js';

/*
 * Records as nodes say them, with the fields filled in that are absent (or null) and follow from others, so that they
 * do not depend on the make or age of the node. What is filled in is read and checked like the rest; a value that is no
 * object stays for the reader to refuse.
 */

const GAS_PER_BLOB = 131_072;
const ZEROS = `0x${'0'.repeat(40)}`;
const SIGNED_TYPES: ReadonlySet<unknown> = new Set(['0x1', '0x2', '0x3', '0x4']);

/** A size that no block has; it is put right with the length of the block's RLP. */
export const NO_SIZE = '0x0';

/** A block: no withdrawals if their root says so, or on the OP stack, which has none; `size` becomes NO_SIZE. */
export function completeBlock(value: unknown): unknown {
  if (!isObject(value)) return value;
  const more: Record<string, unknown> = {};
  if (value.size == null) more.size = NO_SIZE;
  const { withdrawals, withdrawalsRoot } = value;
  const hasNone = withdrawalsRoot === EMPTY_ROOT || (withdrawalsRoot != null && beginsWithDeposit(value));
  if (withdrawals == null && hasNone) more.withdrawals = [];
  return withMore(value, more);
}

/** Whether the block is of the OP stack, whose first transaction is a deposit. */
function beginsWithDeposit({ transactions }: Raw): boolean {
  const first: unknown = Array.isArray(transactions) ? transactions[0] : undefined;
  return isObject(first) && first.type === '0x7e' && first.sourceHash != null;
}

/**
 * A transaction: its type, the chain that a legacy one was signed for (EIP-155); of types 1 to 4 (EIP-2718) the chain,
 * an empty access list, and `v` and `yParity` from each other.
 */
export function completeTransaction(value: unknown, chainId: number | undefined): unknown {
  if (!isObject(value)) return value;
  const more: Record<string, unknown> = {};
  if (value.type == null) more.type = '0x0';
  if (value.chainId == null && (value.type == null || value.type === '0x0')) {
    const chain = chainOfV(value.v);
    if (chain !== undefined) more.chainId = chain;
  }
  if (SIGNED_TYPES.has(value.type)) {
    if (value.accessList == null) more.accessList = [];
    if (value.yParity == null && value.v != null) more.yParity = value.v;
    if (value.v == null && value.yParity != null) more.v = value.yParity;
    if (value.chainId == null && chainId !== undefined) more.chainId = `0x${chainId.toString(16)}`;
  }
  return withMore(value, more);
}

/**
 * A receipt: what it repeats of its transaction, and what follows from it. `prices` says whether the rules of prices
 * hold. The first generation of the OP stack names no sender, and writes zeros instead of no new contract.
 */
export function completeReceipt(value: unknown, tx: TransactionRecord, prices: boolean): unknown {
  if (!isObject(value)) return value;
  const more: Record<string, unknown> = {};
  if (value.from == null) {
    more.from = tx.from;
    if (value.contractAddress === ZEROS && tx.to !== null) more.contractAddress = null;
  }
  if (value.to === undefined) more.to = tx.to;
  if (value.type == null && tx.type != null) more.type = tx.type;
  const signed = prices && tx.other === undefined && tx.kind !== DEPOSIT;
  if (signed && value.effectiveGasPrice == null && tx.gasPrice != null) {
    more.effectiveGasPrice = tx.gasPrice;
  }
  if (signed && tx.kind === 3 && value.blobGasUsed == null) {
    more.blobGasUsed = blobGas(tx);
  }
  return withMore(value, more);
}

/** `v` is 35 or 36 and twice the chain's id; undefined if it is not. */
function chainOfV(v: unknown): string | undefined {
  if (typeof v !== 'string' || !/^0x[0-9a-f]{1,16}$/.test(v)) return undefined;
  const number = BigInt(v);
  return number < 35n ? undefined : `0x${((number - 35n) >> 1n).toString(16)}`;
}

/** Gas of a transaction's blobs, as QUANTITY: each uses GAS_PER_BLOB (EIP-4844). */
export function blobGas({ blobVersionedHashes }: TransactionRecord): string {
  return `0x${(GAS_PER_BLOB * (blobVersionedHashes?.length ?? 0)).toString(16)}`;
}

function isObject(value: unknown): value is Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withMore(value: Raw, more: Raw): Raw {
  for (const _ in more) return { ...value, ...more };
  return value;
}
