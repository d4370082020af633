import { OF_BLOCK, OF_RECEIPTS } from '../record/reader.js';
import type { ReceiptRecord } from '../record/receipt.js';
import { DEPOSIT, type TransactionRecord } from '../record/transaction.js';
import { isNoise, lacksField, RECEIPT_TYPE_FIELDS, TRANSACTION_TYPE_FIELDS } from '../record/type-fields.js';
import { legacyChainId } from './check-chain.js';
import { type BlockInHand, disagree, proofFailed } from './tools.js';

/*
 * What a record cannot have by its type. No root commits to it, so only the type can say that it is false.
 */

const UNSIGNED = 'nobody signs or pays for a deposit';

/** Fields of fees and of access lists, which types of other chains may have without encoding them. */
const OF_OTHER_TYPES: ReadonlySet<string> = new Set(['accessList', 'maxFeePerGas', 'maxPriorityFeePerGas']);

/** Checks that a transaction has only fields of its type, with the values that the type allows. */
export function checkTypeFields(block: BlockInHand, tx: TransactionRecord, index: number): void {
  const check = (name: string, got: string | null | undefined, expected: string, because: string) => {
    if (got == null || got === expected) return;
    disagree(block, `transactions[${index}].${name}`, got, expected, because);
  };
  for (const field of TRANSACTION_TYPE_FIELDS) {
    const { name } = field;
    const given = tx[name];
    if (given == null || !lacksField(field, tx.other === undefined ? tx.kind : Number.NaN)) continue;
    if (tx.other !== undefined && (OF_OTHER_TYPES.has(name) || encodes(block, tx, name))) continue;
    const value = typeof given === 'object' && !Array.isArray(given) ? given.entries : given;
    if (isNoise(name, value)) continue;
    const got = typeof value === 'object' ? `a list of ${value.length}` : String(value);
    disagree(block, `transactions[${index}].${name}`, got, 'nothing', ofType(tx));
  }
  if (tx.other !== undefined) return;
  if (tx.kind === 0) check('yParity', tx.yParity, legacyParity(tx), `v is ${tx.v}`);
  if (tx.kind !== DEPOSIT) return;
  for (const name of ['gasPrice', 'v', 'yParity'] as const) check(name, tx[name], '0x0', UNSIGNED);
  for (const name of ['r', 's'] as const) check(name, tx[name], ZERO_WORD, UNSIGNED);
}

const ZERO_WORD = `0x${'0'.repeat(64)}`;

/** Whether the encoding of a type that only some chains have needs the field. */
function encodes({ rules }: BlockInHand, { type }: TransactionRecord, field: string): boolean {
  const rule = rules.types.get(type!);
  if (typeof rule !== 'object' || !('fields' in rule)) return true;
  return rule.fields.some(({ name, or, also }) => [name, or, also].includes(field));
}

/** The parity of a legacy signature: `v` is 27, or 35 and twice the chain's id, and the parity (EIP-155). */
function legacyParity(tx: TransactionRecord): string {
  const v = BigInt(tx.v!);
  if (legacyChainId(tx) !== undefined) return `0x${(v - 35n) & 1n}`;
  return v === 27n || v === 28n ? `0x${v - 27n}` : tx.v!;
}

/** Checks that a receipt has only fields of its transaction's type, with the values that the type allows. */
export function checkReceiptFields(
  block: BlockInHand,
  tx: TransactionRecord,
  receipt: ReceiptRecord,
  index: number,
): void {
  if (tx.other !== undefined) return;
  for (const field of RECEIPT_TYPE_FIELDS) {
    const { name } = field;
    const value = receipt[name];
    if (!lacksField(field, tx.kind) || isNoise(name, value)) continue;
    if (name === 'blobGasUsed' && block.hasDeposits && receipt.hasFootprint) continue;
    disagree(block, `receipts[${index}].${name}`, value, 'nothing', ofType(tx));
  }
  if (tx.kind !== DEPOSIT) return;
  const { effectiveGasPrice } = receipt;
  if (effectiveGasPrice != null && effectiveGasPrice !== '0x0') {
    disagree(block, `receipts[${index}].effectiveGasPrice`, effectiveGasPrice, '0x0', UNSIGNED);
  }
}

/**
 * Checks what nodes repeat of a deposit's receipt in its transaction, after the root of the receipts. Nodes that do not look
 * the receipt up write nonce 0 (paradigmxyz/reth#11708).
 */
export function checkDeposit(
  block: BlockInHand,
  tx: TransactionRecord,
  receipt: ReceiptRecord,
  index: number,
): void {
  if (tx.other !== undefined || tx.kind !== DEPOSIT || block.unproved.hashes !== undefined) return;
  const { nonce, depositReceiptVersion: version } = tx;
  const fail = (name: string, got: string, expected: string | null | undefined): never => {
    const field = `transactions[${index}].${name}`;
    const message = `${field} is ${got}, expected ${expected ?? 'nothing'}: it repeats the deposit's receipt.`;
    const isProved = receipt.depositReceiptVersion != null && !block.notProved.has('receiptsRoot');
    const kinds = isProved ? OF_BLOCK : [...OF_BLOCK, ...OF_RECEIPTS];
    const failed = {
      proof: 'consistency',
      field,
      got,
      expected: expected ?? 'nothing',
      message,
      kinds,
    } as const;
    throw proofFailed({ block: block.number, ...failed });
  };
  if (nonce != null && nonce !== '0x0' && nonce !== receipt.depositNonce)
    fail('nonce', nonce, receipt.depositNonce);
  if (version != null && version !== receipt.depositReceiptVersion) {
    fail('depositReceiptVersion', version, receipt.depositReceiptVersion);
  }
}

const ofType = ({ type, kind }: TransactionRecord): string =>
  `a transaction of type ${type ?? `0x${kind.toString(16)}`} has no such field`;

/**
 * Checks that the shares of the transactions add up to the `blobGasUsed` of an OP-stack header (Jovian: their footprint in
 * data availability). Deposits have none; nodes write one all the same, which is not counted. `sum` is undefined if no
 * receipt has a share.
 */
export function checkFootprint(block: BlockInHand, sum: number | undefined): void {
  const { record, reader, checks } = block;
  if (sum === undefined || !checks.sums || record.blobGasUsed == null) return;
  const used = reader.number(record.blobGasUsed, 'blobGasUsed');
  if (used === sum) return;
  const expected = `0x${used.toString(16)}`;
  disagree(
    block,
    'receipts.blobGasUsed',
    `0x${sum.toString(16)}`,
    expected,
    "the sum is the header's blobGasUsed",
  );
}
