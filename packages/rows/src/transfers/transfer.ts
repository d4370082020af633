import { MAX_DECIMAL } from '../records/forms.js';
import type { Column, ColumnSpec, RowBatch } from '../records/schema.js';

/** How a transfer was made: by value of the network itself, or by a contract of one of these standards. */
type Standard = 'native' | 'erc20' | 'erc721' | 'erc1155';

/** A transfer of value, as a row of the table has it. */
export interface Transfer {
  block: number;
  /** Seconds since 1970; null: not known. */
  time: number | null;
  /** Null for withdrawals, which are in no transaction. */
  transactionIndex: number | null;
  transactionHash: string | null;
  /** What tells it: a trace, a log, or a withdrawal of the block; its place is in the column for it. */
  source: 'trace' | 'log' | 'withdrawal';
  logIndex: number | null;
  /** Place in the arrays of an ERC-1155 TransferBatch, from 0 on. */
  batchIndex: number | null;
  /** JSON. */
  traceAddress: string | null;
  withdrawalIndex: number | bigint | null;
  standard: Standard;
  /** The contract; null if native. */
  token: string | null;
  /** Null for withdrawals, which come from no account. */
  from: string | null;
  to: string;
  /** In the smallest unit; 1 for ERC-721. */
  value: bigint;
  tokenId: bigint | null;
}

/** How each column is made of a transfer. */
const COLUMNS: readonly (ColumnSpec & { of(transfer: Transfer, chainId: number): Column[number] })[] = [
  { name: 'block_number', type: 'BIGINT', required: true, of: ({ block }) => block },
  { name: 'block_timestamp', type: 'TIMESTAMP', of: ({ time }) => time },
  { name: 'transaction_index', type: 'INTEGER', of: ({ transactionIndex }) => transactionIndex },
  { name: 'transaction_hash', type: 'TEXT', of: ({ transactionHash }) => transactionHash },
  { name: 'source', type: 'TEXT', required: true, of: ({ source }) => source },
  { name: 'log_index', type: 'INTEGER', of: ({ logIndex }) => logIndex },
  { name: 'batch_index', type: 'INTEGER', of: ({ batchIndex }) => batchIndex },
  { name: 'trace_address', type: 'JSON', of: ({ traceAddress }) => traceAddress },
  { name: 'withdrawal_index', type: 'BIGINT', of: ({ withdrawalIndex }) => withdrawalIndex },
  { name: 'standard', type: 'TEXT', required: true, of: ({ standard }) => standard },
  { name: 'token_address', type: 'TEXT', of: ({ token }) => token },
  { name: 'from_address', type: 'TEXT', of: ({ from }) => from },
  { name: 'to_address', type: 'TEXT', required: true, of: ({ to }) => to },
  { name: 'value', type: 'DECIMAL(38,0)', of: ({ value }) => (value > MAX_DECIMAL ? null : value) },
  { name: 'value_double', type: 'DOUBLE', required: true, of: ({ value }) => Number(value) },
  { name: 'value_text', type: 'TEXT', required: true, of: ({ value }) => value.toString() },
  { name: 'token_id', type: 'TEXT', of: ({ tokenId }) => tokenId?.toString() ?? null },
  { name: 'chain_id', type: 'BIGINT', required: true, of: (_, chainId) => chainId },
];

/** The table of transfers. */
export const TRANSFERS: { name: string; columns: readonly ColumnSpec[] } = {
  name: 'transfers-1',
  columns: COLUMNS.map(({ name, type, required }) => ({
    name,
    type,
    ...(required === undefined ? {} : { required }),
  })),
};

/** Transfers as rows of the table. */
export function toTransferRows(transfers: readonly Transfer[], chainId: number): RowBatch {
  const columns = COLUMNS.map(
    ({ name, of }) => [name, transfers.map((transfer) => of(transfer, chainId))] as const,
  );
  return { rows: transfers.length, columns: Object.fromEntries(columns) };
}
