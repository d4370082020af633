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
export {
  type AbiColumns,
  type AbiInput,
  type AbiParameter,
  type AbiValue,
  abiColumns,
  type CodedBatch,
  type CodedColumn,
  type Column,
  type ColumnSpec,
  type ColumnType,
  type CompiledEvent,
  compileAbi,
  createTable,
  type DecodedLog,
  type Decoder,
  type EventInput,
  type Hex,
  type Match,
  type Peer,
  type RowBatch,
  type RowSource,
  readRows,
  type Schema,
  type TransferSources,
  toSchema,
} from '@packhouse/rows';
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
export { checkApiKey, type GatewayAddress, gatewayAddress } from './fetch/gateway-address.js';
export { createHttp, type Gateway, type Http, type Wait } from './fetch/http.js';
export { createPostgresSink } from './follow/create-postgres-sink.js';
export type { FollowSink } from './follow/follow-into.js';
export { type FollowInto, followInto } from './follow/follow-into.js';
export type { PostgresFollowSink, PostgresSinkOptions } from './follow/postgres-sink.js';
export { createRowSink, type RowSinkOptions } from './follow/row-sink.js';
export { readLines } from './manifest/lines.js';
export { isPartialCopy } from './manifest/pull-state.js';
export { type Mirror, type MirrorPlan, noteFolder, openMirror, planMirror } from './mirror/mirror.js';
export { type MirrorFile, mirrorFiles } from './mirror/mirror-files.js';
export { type Bound, looksLikeBound, parseBound, readBlockNumber } from './mirror/range.js';
export { type Choice, chooseFiles } from './rows/choose-files.js';
export { findReplaced, pullRows } from './rows/pull-rows.js';
export { openReceipts } from './rows/read-receipts.js';
export { skipFiles } from './rows/skip-files.js';
export { stateFolder } from './sinks/folder-sink.js';
export { openSink, type SinkTarget } from './sinks/open-sink.js';
export type { RowOrigin, Sink, SinkOptions, SinkState } from './sinks/sink.js';
