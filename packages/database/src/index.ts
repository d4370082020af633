export { createDatabase } from './create-database.js';
export {
  type AlarmRow,
  type BlockLocation,
  type BundleRow,
  type Coverage,
  type Database,
  type HeadRow,
  type KeyRow,
  type Plan,
  type QuarantineRow,
  type QuarantineTry,
  SEGMENT_BLOCKS,
  type StagedBlock,
  type StagedKind,
  type StageRequest,
  type WantedRange,
} from './database.js';
export { migrate } from './schema/migrate.js';
export { migrationsDigest } from './schema/migration-files.js';
