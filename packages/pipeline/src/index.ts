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
export { type BackPressure, createBackPressure, type PressureState } from './back-pressure.js';
export {
  type CoveragePage,
  type CoverageParts,
  type CoverageRequest,
  coverage,
  holeAt,
  type KindCoverage,
} from './coverage.js';
export { HOLE_NEEDS, holeNeeds } from './coverage-reasons.js';
export { type CoverageSummary, coverageSummary } from './coverage-summary.js';
export { type Extracted, type ExtractFailure, type ExtractParts, extract, fetchWish } from './extract.js';
export { type FollowReport, follow } from './follow.js';
export { ingest } from './ingest.js';
export type { IngestParts } from './ingest-piece.js';
export { createObserver, type ObserveParts, type Observer } from './observe.js';
export {
  currentKey,
  makeKeyFile,
  openSigners,
  PRODUCER,
  readKeyFile,
  type SignerParts,
} from './open-signers.js';
export { type PackParts, pack } from './pack.js';
export { type PlanParts, type PlanReport, plan } from './plan.js';
export { FORMAT_VERSION, type PublishParts, publish } from './publish.js';
export { countBlocks, intersectRanges, rangesInclude, subtractRanges, unionRanges } from './ranges.js';
export { reclaim } from './reclaim.js';
export { type Rotation, rotateSigningKey } from './rotate-signing-key.js';
export { sealPending } from './seal-pending.js';
export { type SignerSource, withSigner } from './signer-source.js';
export { type KindStatus, type NetworkStatus, networkStatus } from './status.js';
