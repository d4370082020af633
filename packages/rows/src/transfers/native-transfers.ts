import { PackhouseError } from '@packhouse/runtime';
import { type CodedBatch, columnReader } from '../records/coded-column.js';
import { createFailedPaths } from '../records/failed-traces.js';
import { pickColumns } from '../records/read-columns.js';
import type { Transfer } from './transfer.js';

/** What is read of traces. */
export const TRACE_PART = pickColumns(
  'traces',
  `block_number block_timestamp transaction_position transaction_hash trace_address trace_type call_type from_address
  to_address value_text contract_address error selfdestruct_address refund_address`,
  [{ name: 'balance_text', form: 'decimal text', field: 'action.balance', required: false }],
);

/** What is read of blocks. */
export const WITHDRAWAL_PART = pickColumns('blocks', 'block_number block_timestamp withdrawals');

/** Amounts of withdrawals are in Gwei (EIP-4895). */
const WEI_PER_GWEI = 1_000_000_000n;

/** Where value went from and to, if it did. */
type Movement = Pick<Transfer, 'from' | 'to' | 'value'>;

/**
 * The native transfers of traces, in their order: calls, creations and self-destructs that moved more than nothing to
 * another account, outside of failed calls. `callcode` and `delegatecall` move nothing, and rewards come from nobody.
 */
export function createNativeTransfers(): (batch: CodedBatch) => Generator<Transfer> {
  const isFailed = createFailedPaths();
  return function* (batch) {
    const pathAt = columnReader(batch, 'trace_address');
    const errorAt = columnReader(batch, 'error');
    const movementAt = createMovements(batch);
    const [blockAt, timeAt] = [columnReader(batch, 'block_number'), columnReader(batch, 'block_timestamp')];
    const indexAt = columnReader(batch, 'transaction_position');
    const hashAt = columnReader(batch, 'transaction_hash');
    for (let row = 0; row < batch.rows; row += 1) {
      const path = pathAt(row) as string | null;
      if (isFailed(path, errorAt(row) !== null)) continue;
      const movement = movementAt(row);
      if (movement === null || movement.from === movement.to || movement.value === 0n) continue;
      yield {
        block: blockAt(row) as number,
        time: timeAt(row) as number | null,
        transactionIndex: indexAt(row) as number | null,
        transactionHash: hashAt(row) as string | null,
        source: 'trace',
        logIndex: null,
        batchIndex: null,
        traceAddress: path,
        withdrawalIndex: null,
        standard: 'native',
        token: null,
        tokenId: null,
        ...movement,
      };
    }
  };
}

/** Reads where the value of a trace went. Throws RECORD_INVALID if one that succeeded does not say it. */
function createMovements(batch: CodedBatch): (row: number) => Movement | null {
  const [typeAt, callTypeAt] = [columnReader(batch, 'trace_type'), columnReader(batch, 'call_type')];
  const [valueAt, balanceAt] = [columnReader(batch, 'value_text'), columnReader(batch, 'balance_text')];
  const [fromAt, toAt] = [columnReader(batch, 'from_address'), columnReader(batch, 'to_address')];
  const createdAt = columnReader(batch, 'contract_address');
  const [endedAt, refundedAt] = [
    columnReader(batch, 'selfdestruct_address'),
    columnReader(batch, 'refund_address'),
  ];
  return (row) => {
    const type = typeAt(row);
    const callType = callTypeAt(row);
    const isCall = type === 'call' && (callType === 'call' || callType === null);
    const isCreation = type === 'create';
    const isEnd = type === 'suicide' || type === 'selfdestruct';
    if (!isCall && !isCreation && !isEnd) return null;
    const value = (isEnd ? balanceAt : valueAt)(row) as string | null;
    // Most calls move nothing.
    if (value === '0' || value === null) return null;
    const from = (isEnd ? endedAt : fromAt)(row) as string | null;
    const to = (isCall ? toAt : isCreation ? createdAt : refundedAt)(row);
    if (from === null || typeof to !== 'string') {
      const at = (name: string): unknown => columnReader(batch, name)(row);
      throw new PackhouseError({
        code: 'RECORD_INVALID',
        message: `A trace of block ${at('block_number')} (${type} at ${at('trace_address')} of transaction ${at('transaction_position')}) moved ${value} and has no ${from === null ? 'sender' : 'recipient'}.`,
        hint: 'Check the file with packhouse verify.',
      });
    }
    return { from, to, value: BigInt(value) };
  };
}

/** The withdrawals of blocks (EIP-4895), in their order. */
export function* withdrawalTransfers(batch: CodedBatch): Generator<Transfer> {
  const textAt = columnReader(batch, 'withdrawals');
  const [blockAt, timeAt] = [columnReader(batch, 'block_number'), columnReader(batch, 'block_timestamp')];
  for (let row = 0; row < batch.rows; row += 1) {
    const text = textAt(row) as string | null;
    if (text === null) continue;
    const withdrawals = JSON.parse(text) as { index: string; address: string; amount: string }[];
    for (const { index, address, amount } of withdrawals) {
      yield {
        block: blockAt(row) as number,
        time: timeAt(row) as number | null,
        transactionIndex: null,
        transactionHash: null,
        source: 'withdrawal',
        logIndex: null,
        batchIndex: null,
        traceAddress: null,
        withdrawalIndex: BigInt(index),
        standard: 'native',
        token: null,
        from: null,
        to: address,
        value: BigInt(amount) * WEI_PER_GWEI,
        tokenId: null,
      };
    }
  }
}
