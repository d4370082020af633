export {
  type BundleStep,
  type FeedBlock,
  type FeedStep,
  type FinalStep,
  type NewStep,
  parseFeedStep,
  type RepairedStep,
  type SkippedStep,
  type UndoStep,
  type WaitingStep,
} from '@packhouse/manifest';
export type { AbiInput, AbiParameter, AbiValue, DecodedLog, Hex } from './abi/abi-types.js';
export { type CompiledEvent, compileAbi, type Decoder, type EventInput } from './abi/compile-abi.js';
export { type AbiColumns, abiColumns } from './abi/decode-columns.js';
export { type CheckTask, toLog, type Verdict } from './check/check-file.js';
export { checkFiles } from './check/check-files.js';
export {
  type Blocks,
  type Client,
  type ClientFile,
  type ClientOptions,
  createClient,
  type FilesRequest,
  type LogsRequest,
  type QuoteRequest,
} from './client/create-client.js';
export type { FollowOrigin, FollowRequest, FollowStep } from './client/follow.js';
export type { Log } from './client/logs.js';
export { getMatch, type WantedRows } from './client/match-of.js';
export { type Quote, quoteFiles } from './client/quote.js';
export type { LogBatch } from './client/read-logs.js';
export { type FeedRequest, readFeed } from './feed/read-feed.js';
export { type Choice, chooseFiles } from './filters/choose-files.js';
export { skipFiles } from './filters/skip-files.js';
export { createPostgresSink } from './follow/create-postgres-sink.js';
export { type FollowInto, followInto } from './follow/follow-into.js';
export type { FollowSink } from './follow/follow-sink.js';
export type { PostgresFollowSink, PostgresSinkOptions } from './follow/postgres-sink.js';
export { createRowSink, type RowSinkOptions } from './follow/row-sink.js';
export { checkApiKey, type GatewayAddress, gatewayAddress } from './gateway-address.js';
export { createHttp, type Gateway, type Http, type Wait } from './http.js';
export { readLines } from './manifest/read-lines.js';
export { type Mirror, type MirrorPlan, noteFolder, openMirror, planMirror } from './mirror.js';
export { type MirrorFile, mirrorFiles } from './mirror-files.js';
export { isPartialCopy } from './pull-state.js';
export { type Bound, looksLikeBound, parseBound, readBlockNumber } from './range.js';
export { type CodedBatch, type CodedColumn, columnReader, sliceBatch } from './rows/coded-column.js';
export type { Match } from './rows/match.js';
export { hasReceiptColumns, toSchema } from './rows/read-columns.js';
export { inflateBundle, type RowSource, readCodedRows, readRows } from './rows/read-rows.js';
export {
  type Column,
  type ColumnSpec,
  type ColumnType,
  createTable,
  PEERS,
  type Peer,
  type RowBatch,
  type Schema,
} from './rows/schema.js';
export { withReceipts } from './rows/with-receipts.js';
export { stateFolder } from './sinks/folder-sink.js';
export { openParquetFile, openSink, type SinkTarget } from './sinks/open-sink.js';
export type { ColumnTotals, ParquetFile, ParquetOptions } from './sinks/parquet-file.js';
export { findReplaced, pullRows } from './sinks/pull-rows.js';
export { openReceipts } from './sinks/read-receipts.js';
export type { RowOrigin, Sink, SinkOptions, SinkState } from './sinks/sink.js';
export {
  readTransfers,
  TRANSFER_PARTS,
  type TransferSources,
  withTransferParts,
} from './transfers/read-transfers.js';
export { TRANSFERS } from './transfers/transfer.js';
