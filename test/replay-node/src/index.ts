export type { ObservedCall } from './answer-request.js';
export { chainDataDirectory } from './chain-data-directory.js';
export {
  abiString,
  abiUints,
  abiWords,
  base32Of,
  contractAt,
  TRANSFER_TOPICS,
  userAt,
} from './core-contracts.js';
export { createReplayNode, type ReplayNode, type ReplayNodeOptions } from './create-replay-node.js';
export { type ExtendChainOptions, extendChain } from './extend-chain.js';
export type { FaultKind, FaultRule, FaultScript, RandomFaults } from './faults.js';
export { type GenerateChainOptions, generateChain } from './generate-chain.js';
export { type GiantTraceBlockOptions, giantTraceBlock } from './giant-trace-block.js';
export type { HeadFeed } from './head-feed.js';
export { joinChains } from './join-chains.js';
export { loadRecording } from './load-recording.js';
export type { NodeCapabilities } from './node-state.js';
export { loadAnswers, type RecordedAnswer } from './recorded-answers.js';
export type {
  RecordedBlock,
  RpcBlock,
  RpcLog,
  RpcObject,
  RpcReceipt,
  RpcTrace,
  RpcTransaction,
} from './recorded-block.js';
export { recordedChain } from './recorded-chain.js';
export { sentBy } from './sent-by.js';
export {
  type AnswerPart,
  readText,
  readValue,
  type ServedBlock,
  type ServedChain,
  type ServedText,
  type TransactionPlace,
} from './served-chain.js';
export type { NodeStatistics } from './statistics.js';
