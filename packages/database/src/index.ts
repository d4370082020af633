export type { Budget } from './contract/budgets.js';
export type { Change } from './contract/changes.js';
export type { Database, NetworkDatabase } from './contract/database.js';
export { formatDay, parseDay, parseSince } from './contract/days.js';
export {
  type Columns,
  HOLE_REASONS,
  type Hole,
  type HoleCounts,
  type HoleReason,
  type NetworkStanding,
  type QueueHints,
  type Standing,
} from './contract/holes.js';
export {
  type LeasedNftJob,
  NFT_OUTCOMES,
  type Nft,
  type NftJobToken,
  type NftOutcome,
  type NftTarget,
  type NftTokenRef,
} from './contract/nft.js';
export type { NodeCordon, NodeReport, NodeReportRow } from './contract/nodes.js';
export type { OperatorRole, OperatorRow, SecretHolder } from './contract/operators.js';
export {
  type AlarmRow,
  type AuditRun,
  type BundleRow,
  type Coverage,
  type FilteredFile,
  type HeadRow,
  type KeyRow,
  type NewBundle,
  type Plan,
  type PublishedFile,
  type QuarantineRow,
  type QuarantineTry,
  SEGMENT_BLOCKS,
  type SigningKeyRow,
  type StagedBlock,
  type StagedKind,
  type StageRequest,
} from './contract/rows.js';
export type { NewSchedule, Schedule, ScheduleRun } from './contract/schedules.js';
export {
  type UnitsUsed,
  USAGE_GROUPS,
  type UsageCount,
  type UsageGroup,
  type UsageSum,
} from './contract/usage.js';
export type { OpenRange, WantedRange, WantedRuns } from './contract/wanted.js';
export type { WorkerBeat, WorkerRow } from './contract/workers.js';
export { createDatabase } from './create-database.js';
export { waitForSchema } from './schema/check-schema.js';
export { migrate } from './schema/migrate.js';
export { migrationsDigest } from './schema/migrations.js';
