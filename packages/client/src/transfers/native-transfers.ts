import { PackhouseError } from '@packhouse/runtime';
import { toPartSchema } from '../rows/read-columns.js';
import type { RowBatch } from '../rows/schema.js';
import { columns } from '../rows/schemas.js';
import type { Transfer } from './transfer.js';

/** What is read of traces. */
export const TRACE_PART = toPartSchema(
  'traces',
  columns(`
    block_number                   BIGINT!         blockNumber
    block_timestamp                TIMESTAMP       @time
    transaction_position           INTEGER         transactionPosition
    transaction_hash               TEXT            transactionHash
    trace_address                  JSON            traceAddress
    trace_type                     TEXT!           type
    call_type                      TEXT            action.callType
    from_address                   hex             action.from
    to_address                     hex             action.to
    value_text                     decimal text    action.value
    contract_address               hex             result.address
    error                          TEXT            error
    selfdestruct_address           hex             action.address
    refund_address                 hex             action.refundAddress
    balance_text                   decimal text    action.balance
  `),
);

/** What is read of blocks. */
export const WITHDRAWAL_PART = toPartSchema(
  'blocks',
  columns(`
    block_number                   BIGINT!         number
    block_timestamp                TIMESTAMP       timestamp
    withdrawals                    JSON            withdrawals
  `),
);

/** Amounts of withdrawals are in Gwei (EIP-4895). */
const WEI_PER_GWEI = 1_000_000_000n;

/** Where value went from and to, if it did. */
type Movement = Pick<Transfer, 'from' | 'to' | 'value'>;

/**
 * The native transfers of traces, in their order: calls, creations and self-destructs that moved more than nothing to
 * another account, outside of failed calls. `callcode` and `delegatecall` move nothing, and rewards come from nobody.
 */
export function createNativeTransfers(): (batch: RowBatch) => Generator<Transfer> {
  const isFailed = createFailedPaths();
  return function* (batch) {
    const { rows, columns: of } = batch;
    for (let row = 0; row < rows; row += 1) {
      const path = of.trace_address?.[row] as string | null;
      if (isFailed(path, of.error?.[row] != null)) continue;
      const movement = getMovement(batch, row);
      if (movement === null || movement.from === movement.to || movement.value === 0n) continue;
      yield {
        block: of.block_number?.[row] as number,
        time: (of.block_timestamp?.[row] as number | null | undefined) ?? null,
        transactionIndex: of.transaction_position?.[row] as number | null,
        transactionHash: of.transaction_hash?.[row] as string | null,
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

/** Throws RECORD_INVALID if a trace that succeeded does not say where its value went. */
function getMovement({ columns: of }: RowBatch, row: number): Movement | null {
  const type = of.trace_type?.[row];
  const callType = of.call_type?.[row];
  const isCall = type === 'call' && (callType === 'call' || callType === null);
  const isCreation = type === 'create';
  const isEnd = type === 'suicide' || type === 'selfdestruct';
  if (!isCall && !isCreation && !isEnd) return null;
  const value = (isEnd ? of.balance_text : of.value_text)?.[row] as string | null;
  // Most calls move nothing.
  if (value === '0' || value === null) return null;
  const from = (isEnd ? of.selfdestruct_address : of.from_address)?.[row] as string | null;
  const to = (isCall ? of.to_address : isCreation ? of.contract_address : of.refund_address)?.[row];
  if (from === null || typeof to !== 'string') {
    throw new PackhouseError({
      code: 'RECORD_INVALID',
      message: `A trace of block ${of.block_number?.[row]} (${type} at ${of.trace_address?.[row]} of transaction ${of.transaction_position?.[row]}) moved ${value} and has no ${from === null ? 'sender' : 'recipient'}.`,
      hint: 'Check the file with packhouse verify.',
    });
  }
  return { from, to, value: BigInt(value) };
}

/** Says of traces in their order, by their paths as JSON, whether they or one around them failed. */
function createFailedPaths(): (path: string | null, failed: boolean) => boolean {
  /** What the paths within the call that failed begin with. */
  let within: string | null = null;
  return (path, failed) => {
    const isRoot = path === null || path === '[]';
    if (within !== null && !isRoot && path.startsWith(within)) return true;
    within = failed ? (isRoot ? '[' : `${path.slice(0, -1)},`) : null;
    return failed;
  };
}

/** The withdrawals of blocks (EIP-4895), in their order. */
export function* withdrawalTransfers({ rows, columns: of }: RowBatch): Generator<Transfer> {
  for (let row = 0; row < rows; row += 1) {
    const text = of.withdrawals?.[row] as string | null;
    if (text === null) continue;
    const withdrawals = JSON.parse(text) as { index: string; address: string; amount: string }[];
    for (const { index, address, amount } of withdrawals) {
      yield {
        block: of.block_number?.[row] as number,
        time: (of.block_timestamp?.[row] as number | null | undefined) ?? null,
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
