export type {
  AuditEvents,
  AuditParts,
  AuditRequest,
  AuditSummary,
} from './audit/audit.js';
export type { AuditCounts, Unchecked } from './audit/audit-report.js';
export type { DamagedBundle } from './audit/damage.js';
export { deleteOrphans, type Orphan } from './audit/delete-orphans.js';
export type { Finding, FindingCause } from './audit/finding.js';
export type { OpenRepair, Repair } from './audit/repair-network.js';
export { type AuditOutcome, type RunAuditOptions, runAudit } from './audit/run-audit.js';
export { type ScheduledAuditRequest, scheduledAudit } from './audit/scheduled-audit.js';
export { type BackPressure, createBackPressure, type PressureState } from './ingest/back-pressure.js';
export {
  extractRuns,
  fetchWish,
} from './ingest/extract.js';
export { type FollowReport, follow } from './ingest/follow.js';
export { ingest } from './ingest/ingest.js';
export type { IngestParts } from './ingest/ingest-piece.js';
export { type PlanParts, type PlanReport, plan } from './ingest/plan.js';
export { type PackParts, pack } from './publish/pack.js';
export { FORMAT_VERSION, type PublishParts, publish } from './publish/publish.js';
export { type Rotation, rotateSigningKey } from './publish/rotate-signing-key.js';
export { sealPending } from './publish/seal-pending.js';
export {
  currentKey,
  makeKeyFile,
  openSigners,
  PRODUCER,
  readKeyFile,
  type SignerParts,
} from './publish/sign.js';
export { type SignerSource, withSigner } from './publish/signer-source.js';
export { countBlocks, intersectRanges, rangesInclude, subtractRanges, unionRanges } from './ranges.js';
export { reclaim } from './reclaim.js';
export {
  type CoveragePage,
  type CoverageParts,
  type CoverageRequest,
  coverage,
  holeAt,
  type KindCoverage,
} from './report/coverage.js';
export { HOLE_NEEDS, holeNeeds } from './report/coverage-reasons.js';
export { type CoverageSummary, coverageSummary } from './report/coverage-summary.js';
export { type KindStatus, type NetworkStatus, networkStatus } from './report/network-report.js';
export { createObserver, type ObserveParts, type Observer } from './report/observe.js';
