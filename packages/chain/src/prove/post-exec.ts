import { readPostExec } from '../record/post-exec.js';
import type { TransactionRecord } from '../record/transaction.js';
import { type BlockInHand, disagree } from './tools.js';

const VERSION = 1;
const ZEROS = `0x${'0'.repeat(40)}`;

/**
 * Checks a transaction of type 0x7d of the OP stack, which nobody signs: it is the last of its block, of no value and no
 * gas, and its input says which transactions of this block get gas back. How much they get follows only from execution.
 *
 * Source: op-alloy's consensus/src/transaction/post_exec.rs, kona's check_post_exec_txs. No chain has the fork (Lagoon)
 * that allows it yet.
 */
export function checkPostExec(
  block: BlockInHand,
  tx: TransactionRecord,
  given: unknown,
  index: number,
): void {
  if (tx.other?.unwrapped !== true) return;
  const wrong = (name: string, got: string | null | undefined, expected: string, because: string): never =>
    disagree(block, `transactions[${index}].${name}`, got, expected, because);
  const { number, record } = block;
  if (index !== record.transactions.length - 1) {
    wrong('type', tx.type, 'another type', 'a transaction of type 0x7d is the last of its block');
  }
  const ofNobody = { from: ZEROS, to: tx.to === null ? null : ZEROS, value: '0x0', gas: '0x0' };
  for (const [name, expected] of Object.entries(ofNobody)) {
    const got = tx[name as keyof typeof ofNobody];
    if (got !== expected) wrong(name, got, expected ?? 'null', 'nobody sent a transaction of type 0x7d');
  }
  const said =
    readPostExec(tx.input) ??
    wrong('input', tx.input, 'rlp([version, blockNumber, [[index, gasRefund], …]])', 'it is of type 0x7d');
  if (said.version !== VERSION) wrong('input', `version ${said.version}`, 'version 1', 'no other is defined');
  if (said.blockNumber !== number) {
    wrong('input', `block ${said.blockNumber}`, `block ${number}`, 'it names the block that it belongs to');
  }
  const seen = new Set<number>();
  for (const { index: of, gas } of said.refunds) {
    if (of >= index || gas === 0 || seen.has(of)) {
      const expected = 'gas for other transactions before it, each once';
      wrong('input', `${gas} for transaction ${of}`, expected, 'a refund is of a transaction');
    }
    seen.add(of);
  }
  const { payload } = given as { payload?: unknown };
  if (payload == null) return;
  const { version, blockNumber, gasRefundEntries: entries } = payload as Partial<Record<string, unknown>>;
  const list = Array.isArray(entries) ? (entries as Partial<Record<string, unknown>>[]) : [];
  const flat = [version, blockNumber, ...list.flatMap((entry) => [entry?.index, entry?.gasRefund])];
  const expected = [said.version, said.blockNumber, ...said.refunds.flatMap((one) => [one.index, one.gas])];
  if (
    Array.isArray(entries) &&
    flat.length === expected.length &&
    flat.every((one, at) => Number(one) === expected[at])
  )
    return;
  wrong('payload', JSON.stringify(payload), `what the input says (${tx.input})`, 'it is the input in words');
}
