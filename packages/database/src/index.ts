export {
  HOLE_REASONS,
  type Hole,
  type HoleCounts,
  type HoleReason,
  type Holes,
  type HolesPage,
  type KindHoles,
  type KindStanding,
  type OldestQuarantine,
  type QueueHints,
  type Standing,
} from './coverage/holes.js';
export { createDatabase } from './create-database.js';
export {
  type AlarmRow,
  type AuditRun,
  type BlockLocation,
  type BundleRow,
  type Coverage,
  type Database,
  type HeadRow,
  type KeyRow,
  type NewBundle,
  type Plan,
  type QuarantineRow,
  type QuarantineTry,
  SEGMENT_BLOCKS,
  type Sealing,
  type SigningKeyRow,
  type StagedBlock,
  type StagedKind,
  type StageRequest,
  type SupersededBundle,
  type WantedRange,
} from './database.js';
export {
  type LeasedNftJob,
  NFT_OUTCOMES,
  type Nft,
  type NftJobStatus,
  type NftJobToken,
  type NftJobView,
  type NftOutcome,
  type NftTarget,
  type NftTokenRef,
  type NftTokenRow,
} from './nft/nft.js';
export { migrate } from './schema/migrate.js';
export { migrationsDigest } from './schema/migration-files.js';
export { waitForSchema } from './schema/wait-for-schema.js';
