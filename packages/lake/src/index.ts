export type { Field } from './iceberg/fields.js';
export { isLakeKey, lakeFileKey, lakePrefix, parseLakeFileName } from './iceberg/file-key.js';
export { type DataFile, encodeManifest } from './iceberg/manifest.js';
export { encodeManifestList, type ListedManifest } from './iceberg/manifest-list.js';
export { PARTITION_BLOCKS } from './iceberg/partition.js';
export { tableMetadata } from './iceberg/table-metadata.js';
export { createLakeWriter, lakeLoop } from './writer/lake-writer.js';
export { listLakeOrphans, type OrphanParts } from './writer/sweep.js';
export { kindsOf } from './writer/table-rows.js';
