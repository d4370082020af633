export type { BlockSource, FailedBlock, FetchedBlock, MethodAnswers } from './blocks/block-source.js';
export { createBlockSource } from './blocks/create-block-source.js';
export { type ClientAnswer, createUpstreamClient, type UpstreamClient } from './calls/client.js';
export { createForwarder } from './forward/create-forwarder.js';
export type {
  Disproof,
  FalseAnswer,
  ForwardAnswer,
  Forwarder,
  ResultBody,
} from './forward/forwarder.js';
export type { SharedTips } from './forward/told.js';
export type { BlockAnchor, BlockHeader } from './heads/ask-head.js';
export type { FetchWish } from './heads/choose-node.js';
export type { ChainHead } from './heads/pool-head.js';
export { createSpending } from './spending/create-spending.js';
export { createRedisLeases, type LeaseStore } from './spending/lease-store.js';
export { budgetStanding } from './spending/open-budgets.js';
export type { Account, Spending } from './spending/spending.js';
export { createNodeLabel, type NodeLabel } from './upstream/label.js';
export { forgetUpstreams } from './upstream/metrics.js';
export { createNodeReports, type NodeReports } from './upstream/node-reports.js';
export { headQuestion, identityQuestion, quantity } from './upstream/questions.js';
export { type RefusedRange, refusedRange } from './upstream/refused-range.js';
