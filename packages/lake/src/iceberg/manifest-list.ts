import { type AvroFile, compileAvro } from './avro.js';
import { partitionBounds } from './partition.js';

/** A manifest as the list of a snapshot has it. */
export interface ListedManifest {
  /** Its files are within these blocks. */
  firstBlock: number;
  lastBlock: number;
  location: string;
  bytes: number;
  files: number;
  rows: number;
  /** The newest snapshot that changed one of its files, and the oldest that added one. */
  changedSnapshot: number;
  oldestSnapshot: number;
}

/** Iceberg specification, "Manifest Lists", v2. */
const LISTED = {
  type: 'record',
  name: 'manifest_file',
  fields: [
    { name: 'manifest_path', type: 'string', 'field-id': 500 },
    { name: 'manifest_length', type: 'long', 'field-id': 501 },
    { name: 'partition_spec_id', type: 'int', 'field-id': 502 },
    { name: 'content', type: 'int', 'field-id': 517 },
    { name: 'sequence_number', type: 'long', 'field-id': 515 },
    { name: 'min_sequence_number', type: 'long', 'field-id': 516 },
    { name: 'added_snapshot_id', type: 'long', 'field-id': 503 },
    { name: 'added_files_count', type: 'int', 'field-id': 504 },
    { name: 'existing_files_count', type: 'int', 'field-id': 505 },
    { name: 'deleted_files_count', type: 'int', 'field-id': 506 },
    { name: 'added_rows_count', type: 'long', 'field-id': 512 },
    { name: 'existing_rows_count', type: 'long', 'field-id': 513 },
    { name: 'deleted_rows_count', type: 'long', 'field-id': 514 },
    {
      name: 'partitions',
      default: null,
      'field-id': 507,
      type: [
        'null',
        {
          type: 'array',
          'element-id': 508,
          items: {
            type: 'record',
            name: 'r508',
            fields: [
              { name: 'contains_null', type: 'boolean', 'field-id': 509 },
              { name: 'lower_bound', type: ['null', 'bytes'], default: null, 'field-id': 510 },
              { name: 'upper_bound', type: ['null', 'bytes'], default: null, 'field-id': 511 },
            ],
          },
        },
      ],
    },
  ],
};

let compiled: AvroFile | undefined;

/** The list of a snapshot's manifests: Avro. */
export function encodeManifestList(snapshot: number, manifests: readonly ListedManifest[]): Buffer {
  compiled ??= compileAvro(LISTED);
  const values = manifests.map(({ firstBlock, lastBlock, location, bytes, files, rows, ...of }) => ({
    manifest_path: location,
    manifest_length: bytes,
    partition_spec_id: 0,
    content: 0,
    sequence_number: of.changedSnapshot,
    min_sequence_number: of.oldestSnapshot,
    added_snapshot_id: of.changedSnapshot,
    added_files_count: 0,
    existing_files_count: files,
    deleted_files_count: 0,
    added_rows_count: 0,
    existing_rows_count: rows,
    deleted_rows_count: 0,
    partitions: { array: [partitionBounds(firstBlock, lastBlock)] },
  }));
  return compiled.encode(values, {
    'snapshot-id': String(snapshot),
    'parent-snapshot-id': 'null',
    'sequence-number': String(snapshot),
    'format-version': '2',
  });
}
