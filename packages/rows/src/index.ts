export type { AbiInput, AbiParameter, AbiValue, DecodedLog, Hex } from './abi/abi-types.js';
export { type CompiledEvent, compileAbi, type Decoder, type EventInput } from './abi/compile-abi.js';
export { type AbiColumns, abiColumns, topicsIn } from './abi/decode-columns.js';
export { getTopics } from './abi/topics-of.js';
export { openParquetFile } from './parquet/open-parquet-file.js';
export type { ColumnTotals, ParquetFile, ParquetOptions } from './parquet/parquet-options.js';
export { inflateBundle } from './records/bundle-text.js';
export {
  type CodedBatch,
  type CodedColumn,
  columnReader,
  rowsWithin,
  sliceBatch,
  toPlainBatch,
  valueAt,
} from './records/coded-column.js';
export type { Match } from './records/match.js';
export { hasReceiptColumns, type JsonRecord, toSchema } from './records/read-columns.js';
export { type RowSource, readCodedRows, readRows } from './records/read-rows.js';
export {
  type Column,
  type ColumnSpec,
  type ColumnType,
  createTable,
  PEERS,
  type Peer,
  quoted,
  type RowBatch,
  type Schema,
  toBytes,
} from './records/schema.js';
export { withReceipts } from './records/with-receipts.js';
export {
  readTransfers,
  TRANSFER_PARTS,
  type TransferSources,
  withTransferParts,
} from './transfers/read-transfers.js';
export { TRANSFERS } from './transfers/transfer.js';
