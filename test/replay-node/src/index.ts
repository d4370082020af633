export type { ObservedCall } from './answer-request.js';
export {
  abiString,
  abiUints,
  abiWords,
  contractAt,
  TRANSFER_TOPICS,
  toBase32,
  userAt,
} from './core-contracts.js';
export { createReplayNode, type ReplayNode, type ReplayNodeOptions } from './create-replay-node.js';
export { extendChain } from './extend-chain.js';
export type { FaultKind, FaultRule } from './faults.js';
export { forkChain } from './fork-chain.js';
export {
  createGarblingNode,
  type Garble,
  type GarblingNode,
  type GarblingScript,
} from './garbling-node.js';
export { generateChain } from './generate-chain.js';
export { giantTraceBlock } from './giant-trace-block.js';
export { loadAnswers } from './recorded-answers.js';
export type { RecordedBlock } from './recorded-block.js';
export { sentBy } from './sent-by.js';
export { readValue, type ServedBlock, type ServedChain } from './served-chain.js';
