export { ALARMS, type AlarmName, getAlarmEnd } from './alarm-names.js';
export { FINALITY_ALARM } from './head/finality-alarm.js';
export { createFindingReport } from './head/node-findings.js';
export { PROBED_CAUSES } from './ingest/blame.js';
export { extractRuns, toFetchRequest } from './ingest/extract.js';
export { follow } from './ingest/follow.js';
export { FORK_ALARM, forkUnknown, strangeHeader } from './ingest/fork-unknown.js';
export { ingest } from './ingest/ingest.js';
export { createUnansweredRetry } from './ingest/retry-unanswered.js';
export { describeTrial, type ProofTrial, tryProofs } from './ingest/try-proofs.js';
export { leaderLock, packJobId, parseIngestJobId, parsePackJobId } from './job-names.js';
export { createBackPressure } from './plan/back-pressure.js';
export { requestsPerBlock } from './plan/blocks-left.js';
export { createFairShares } from './plan/fair-shares.js';
export { plan } from './plan/plan.js';
export { createPlanTraces } from './plan/plan-traces.js';
export { pack } from './publish/pack.js';
export { FORMAT_VERSION, notProvedIn, provedByAll, publish, relevantProofs } from './publish/publish.js';
export { putFilter, putFilterLater } from './publish/put-filter.js';
export { putBundle, putVerified } from './publish/put-verified.js';
export { MANIFEST_REWOUND, raiseRewound } from './publish/rewound.js';
export {
  keyFileWarning,
  openSigners,
  rotateSigningKey,
  type SignerSource,
  sealPending,
  withSigner,
} from './publish/sign.js';
export { createLogStore, type LogStore } from './publish/store-log.js';
export { withoutPackers } from './publish/without-packers.js';
export type { Estimate } from './quote/estimate.js';
export { QUOTE_CALLS, type Quote, type QuoteRequest, quote } from './quote/quote.js';
export { type DeadlineOutlook, deadlineOutlook, forecastEnd, openTime } from './schedule/outlook.js';
export { createOpeningHours, type OpeningHours, parseTimeWindow } from './schedule/time-window.js';
export { connectDatabase, connectNodes, connectQueues, followNetworksFile } from './workers/connect.js';
export { createNoticeSender, NOTICES } from './workers/send-notices.js';
export { createStoreAlarm, type StoreAlarm } from './workers/store-alarm.js';
export { takeJobs } from './workers/take-jobs.js';
