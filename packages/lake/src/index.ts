export { assignFields, type Field } from './fields.js';
export { lakeFileKey, lakePrefix, parseLakeFileName, parseLakeKey } from './file-key.js';
export { type DataFile, encodeManifest } from './manifest.js';
export { encodeManifestList, type ListedManifest } from './manifest-list.js';
export { PARTITION_BLOCKS } from './partition.js';
export { tableMetadata } from './table-metadata.js';
