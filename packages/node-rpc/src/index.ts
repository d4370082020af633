export type { BlockSource, FailedBlock, FetchedBlock, MethodAnswers } from './blocks/block-source.js';
export { type BlockSourceOptions, createBlockSource } from './blocks/create-block-source.js';
export { type ClientAnswer, createUpstreamClient, type UpstreamClient } from './calls/client.js';
export { createForwarder } from './forward/create-forwarder.js';
export type { Forwarder } from './forward/forwarder.js';
export type {
  Disproof,
  ForwardAnswer,
  ForwardRequest,
  InvalidResponse,
  Lack,
  ResultBody,
  ResultCheck,
} from './forward/send/forward-request.js';
export type { SharedTips } from './forward/tip/shared-tips.js';
export type { FetchRequest } from './heads/choose-node.js';
export type { NodeFinding } from './heads/final-branches.js';
export type { BlockAnchor, BlockHeader } from './heads/poll-head.js';
export type { ChainHead } from './heads/pool-head.js';
export { createSpending } from './spending/create-spending.js';
export { createRedisLeases, type LeaseStore } from './spending/lease-store.js';
export { getBudgetUsage } from './spending/open-budgets.js';
export type { Account, Spending } from './spending/spending.js';
export { createAllowance } from './spending/spending.js';
export { createNodeLabel, type NodeLabel } from './upstream/label.js';
export { forgetUpstreams } from './upstream/metrics.js';
export { createNodeReports, type NodeReports } from './upstream/node-reports.js';
export { getHeadRequest, getIdentityRequest, parseQuantity } from './upstream/node-requests.js';
export type { RefusedRange } from './upstream/refused-range.js';
export { judgeRefusedRange } from './upstream/verdict.js';
