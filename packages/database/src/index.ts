export type { Fence, Lock } from './connection/leases.js';
export { parseNotice } from './connection/notices.js';
export { withLock } from './connection/with-lock.js';
export type { Columns } from './coverage/columns.js';
export type { HoleCounts } from './coverage/count-holes.js';
export type { Coverage } from './coverage/coverage.js';
export { HOLE_REASONS, type HoleReason, type QueueHints } from './coverage/hole-reasons.js';
export type { Hole } from './coverage/holes-page.js';
export type { Pace } from './coverage/paces.js';
export type { NetworkStanding, Standing } from './coverage/standing.js';
export type { WaitingFacts } from './coverage/waiting-facts.js';
export { createDatabase, type Database, type NetworkDatabase } from './create-database.js';
export { formatDay, parseDay, parseSince } from './days.js';
export type { Branch } from './feed/feed.js';
export {
  type FeedRepair,
  type FeedStaged,
  type FeedWindow,
  type StagedPart,
  WINDOW_REPAIRS,
} from './feed/window.js';
export type { NodeCounter } from './history/counters.js';
export { HISTORY_FIGURES, type HistorySubject, HOUR_DAYS, MINUTE_HOURS, SPARSE } from './history/figures.js';
export type { HistoryMark } from './history/marks.js';
export type { Figures, HistorySample } from './history/samples.js';
export { waitForSchema } from './schema/check-schema.js';
export { migrate } from './schema/migrate.js';
export { migrationsDigest } from './schema/migrations.js';
export type { StagedBlock, StagedKind, StageRequest } from './staging/rows.js';
export { SEGMENT_BLOCKS } from './staging/segments.js';
export type { ApplicationTerms, ListedApplication } from './tables/gateway/applications.js';
export type { KeyRequest } from './tables/gateway/key-requests.js';
export type { KeyRow, KeyTerms, ListedKey } from './tables/gateway/keys.js';
export {
  type LeasedNftJob,
  NFT_OUTCOMES,
  type Nft,
  type NftJobToken,
  type NftOutcome,
  type NftTarget,
  type NftTokenRef,
} from './tables/gateway/nft.js';
export type { Plan } from './tables/gateway/plans.js';
export {
  type UnitsUsed,
  USAGE_GROUPS,
  USAGE_PARTS,
  type UsageCount,
  type UsageGroup,
  type UsagePart,
  type UsageSum,
} from './tables/gateway/usage.js';
export type { AlarmRow } from './tables/networks/alarms.js';
export type { HeadRow } from './tables/networks/head.js';
export type { Budget } from './tables/operators/budgets.js';
export type { Change } from './tables/operators/changes.js';
export type { ChannelWork, PendingMessage, UntoldCondition } from './tables/operators/channel-messages.js';
export type { Channel, ChannelKind } from './tables/operators/channels.js';
export type { Condition, Severity } from './tables/operators/conditions.js';
export type {
  DeliveredBlocks,
  HookPlace,
  HookWork,
  PendingDelivery,
} from './tables/operators/hook-deliveries.js';
export type { Hook, HookTerms } from './tables/operators/hooks.js';
export type { NodeCordon, NodeHealth, NodeReport, NodeReportRow } from './tables/operators/nodes.js';
export type { OperatorRole, OperatorRow, SecretHolder, SessionHolder } from './tables/operators/operators.js';
export type { NewSchedule, Schedule, ScheduleRun } from './tables/operators/schedules.js';
export type { OidcPerson, SignIn } from './tables/operators/sign-ins.js';
export type { WorkerHeartbeat, WorkerRow } from './tables/operators/workers.js';
export type { AuditRun } from './tables/published/audit.js';
export type { FilteredFile } from './tables/published/bundle-filters.js';
export type { BundleRow, NewBundle, PublishedFile } from './tables/published/bundles.js';
export type { LakeFile, LakeHeads, LakeTable, NewLakeFile } from './tables/published/lake.js';
export type { SigningKeyRow } from './tables/published/manifest.js';
export type { Backfill, OpenBackfill, RequestedRuns } from './tables/requested/backfill-cache.js';
export { BACKFILL_FILTERS, type BackfillGroup } from './tables/requested/backfill-pages.js';
export type { QuarantineRow, QuarantineTry } from './tables/requested/quarantine-rows.js';
