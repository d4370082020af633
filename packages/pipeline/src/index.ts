export { type AdoptSummary, adopt } from './adopt/adopt.js';
export { type AlarmName, getAlarmEnd } from './alarm-names.js';
export type { AuditRequest } from './audit/audit.js';
export type { AuditCounts } from './audit/audit-report.js';
export { type DamagedBundle, listDamage, raiseDamage } from './audit/damage.js';
export type { Finding } from './audit/finding.js';
export { deleteOrphans, type Orphan } from './audit/orphans.js';
export type { OpenRepair, Repair } from './audit/repair.js';
export { type AuditOutcome, runAudit } from './audit/run-audit.js';
export { scheduledAudit } from './audit/scheduled-audit.js';
export { type ChangeSource, createChangeSource } from './feed/changes.js';
export { createFeed, type Feed, type FeedPage } from './feed/create-feed.js';
export { FINALITY_ALARM } from './head/finality-alarm.js';
export { createFindingReport } from './head/node-findings.js';
export { historyLoop } from './history/history-loop.js';
export type { HookNetwork } from './hooks/begin-delivery.js';
export { createHookDelivery } from './hooks/deliver.js';
export { hookLoop } from './hooks/dispatch.js';
export { createLogMatcher } from './hooks/match-logs.js';
export { makeHookSalt, toHookSecret } from './hooks/secret.js';
export { toFetchRequest } from './ingest/extract.js';
export { follow } from './ingest/follow.js';
export { forkUnknown, strangeHeader } from './ingest/fork-unknown.js';
export { ingest } from './ingest/ingest.js';
export { createUnansweredRetry } from './ingest/retry-unanswered.js';
export { describeTrial, type ProofTrial, tryProofs } from './ingest/try-proofs.js';
export { leaderLock } from './job-names.js';
export { lakeLoop } from './lake/lake-loop.js';
export { notificationLoop } from './notifications/notification-loop.js';
export { sealAddress } from './notifications/send-message.js';
export { createBackPressure } from './plan/back-pressure.js';
export { createFairShares } from './plan/fair-shares.js';
export { plan } from './plan/plan.js';
export { createPlanTraces } from './plan/plan-traces.js';
export { pack } from './publish/pack.js';
export { publish } from './publish/publish.js';
export { raiseRewound } from './publish/rewound.js';
export {
  keyFileWarning,
  openSigners,
  rotateSigningKey,
  type SignerSource,
  sealPending,
} from './publish/sign.js';
export { createLogStore, type LogStore } from './publish/store-log.js';
export type { Estimate } from './quote/estimate.js';
export { QUOTE_CALLS, type Quote, type QuoteRequest, quote } from './quote/quote.js';
export {
  type BackfillProgress,
  getBackfillProgress,
  readBackfillProgress,
  type WaitReason,
} from './report/backfill-progress.js';
export {
  type CoveragePage,
  type CoverageParts,
  type CoverageRequest,
  coverage,
  holeAt,
  holeNeeds,
} from './report/coverage.js';
export { type CoverageMap, coverageMap } from './report/coverage-map.js';
export { type LakeReport, lakeReport } from './report/lake-report.js';
export {
  type CoverageSummary,
  coverageSummary,
  type KindStatus,
  type NetworkStatus,
  networkStatus,
} from './report/network-report.js';
export { createObserver, type Observer } from './report/observe.js';
export { createOverview, type NetworkOverview, type Overview } from './report/overview.js';
export { createRates, type Rate, type Rates } from './report/rates.js';
export { getSilence } from './report/silent-nodes.js';
export { createOpeningHours, parseTimeWindow } from './schedule/time-window.js';
export { connectDatabase, connectNodes, connectQueues, followNetworksFile } from './workers/connect.js';
export { createStoreAlarm, type StoreAlarm } from './workers/store-alarm.js';
export { takeJobs } from './workers/take-jobs.js';
