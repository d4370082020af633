export type {
  BlockAnchor,
  BlockHeader,
  BlockSource,
  ChainHead,
  FailedBlock,
  FetchedBlock,
  FetchWish,
  UpstreamStatus,
} from './block-source.js';
export { type BlockSourceOptions, createBlockSource } from './create-block-source.js';
export { createForwarder, type ForwarderOptions } from './forward/create-forwarder.js';
export type {
  ForwardAnswer,
  Forwarder,
  ForwardRequest,
  ForwardStatus,
  ResultBody,
} from './forward/forwarder.js';
export { headQuestion, type NodeQuestion } from './forward/head-question.js';
export { createNodeLabel, type NodeLabel } from './node-label.js';
export { type RefusedRange, refusedRange } from './upstream/refused-range.js';
