export {
  type BackfillProgress,
  getBackfillProgress,
  readBackfillProgress,
  type WaitReason,
} from './backfill-progress.js';
export {
  type CoveragePage,
  type CoverageParts,
  type CoverageRequest,
  coverage,
  holeAt,
  holeNeeds,
} from './coverage.js';
export { type CoverageMap, coverageMap } from './coverage-map.js';
export { historyLoop } from './history/history-loop.js';
export { type LakeReport, lakeReport } from './lake-report.js';
export {
  type CoverageSummary,
  coverageSummary,
  type KindStatus,
  type NetworkStatus,
  networkStatus,
} from './network-report.js';
export { createObserver, type Observer } from './observe.js';
export { createOverview, type NetworkOverview, type Overview } from './overview.js';
export { createRates, type Rate, type Rates } from './rates.js';
export { getSilence } from './silent-nodes.js';
