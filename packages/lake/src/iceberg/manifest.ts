import { type AvroFile, compileAvro } from './avro.js';
import { type ColumnStats, encodeBound, hasBounds } from './bounds.js';
import type { Field } from './fields.js';
import { PARTITION, partitionOf, partitionSpec } from './partition.js';
import { toSchema } from './table-metadata.js';

/** A data file as a manifest has it. */
export interface DataFile {
  firstBlock: number;
  /** Its address. */
  location: string;
  rows: number;
  bytes: number;
  /** The snapshot that added it, and its place in the order of changes. */
  addedSnapshot: number;
  /** By the id of the field. */
  stats: Readonly<Record<string, ColumnStats>>;
}

const map = (
  name: string,
  ids: readonly [number, number, number],
  value: 'long' | 'bytes',
  doc: string,
): object => ({
  name,
  'field-id': ids[0],
  doc,
  default: null,
  type: [
    'null',
    {
      type: 'array',
      logicalType: 'map',
      items: {
        type: 'record',
        name: `k${ids[1]}_v${ids[2]}`,
        fields: [
          { name: 'key', type: 'int', 'field-id': ids[1] },
          { name: 'value', type: value, 'field-id': ids[2] },
        ],
      },
    },
  ],
});

/** Iceberg specification, "Manifests", v2: only what tables have that are not deleted from. */
const ENTRY = {
  type: 'record',
  name: 'manifest_entry',
  fields: [
    { name: 'status', type: 'int', 'field-id': 0 },
    { name: 'snapshot_id', type: ['null', 'long'], default: null, 'field-id': 1 },
    { name: 'sequence_number', type: ['null', 'long'], default: null, 'field-id': 3 },
    { name: 'file_sequence_number', type: ['null', 'long'], default: null, 'field-id': 4 },
    {
      name: 'data_file',
      'field-id': 2,
      type: {
        type: 'record',
        name: 'r2',
        fields: [
          { name: 'content', type: 'int', 'field-id': 134 },
          { name: 'file_path', type: 'string', 'field-id': 100 },
          { name: 'file_format', type: 'string', 'field-id': 101 },
          { name: 'partition', type: PARTITION, 'field-id': 102 },
          { name: 'record_count', type: 'long', 'field-id': 103 },
          { name: 'file_size_in_bytes', type: 'long', 'field-id': 104 },
          map('value_counts', [109, 119, 120], 'long', 'values with nulls, by field'),
          map('null_value_counts', [110, 121, 122], 'long', 'nulls, by field'),
          map('lower_bounds', [125, 126, 127], 'bytes', 'least values, by field'),
          map('upper_bounds', [128, 129, 130], 'bytes', 'greatest values, by field'),
          { name: 'sort_order_id', type: ['null', 'int'], default: null, 'field-id': 140 },
        ],
      },
    },
  ],
};

/** The file was there before the snapshot that lists it: so a manifest stays as it is while its files do. */
const EXISTING = 0;

let compiled: AvroFile | undefined;

/** A manifest of data files: Avro. */
export function encodeManifest(fields: readonly Field[], files: Iterable<DataFile>): Buffer {
  compiled ??= compileAvro(ENTRY);
  const entries = function* (): Generator<object> {
    for (const { firstBlock, location, rows, bytes, addedSnapshot, stats } of files) {
      const { values, nulls, lower, upper } = toColumns(fields, rows, stats);
      const snapshot = { long: addedSnapshot };
      yield {
        status: EXISTING,
        snapshot_id: snapshot,
        sequence_number: snapshot,
        file_sequence_number: snapshot,
        data_file: {
          content: 0,
          file_path: location,
          file_format: 'PARQUET',
          partition: partitionOf(firstBlock),
          record_count: rows,
          file_size_in_bytes: bytes,
          value_counts: { array: values },
          null_value_counts: { array: nulls },
          lower_bounds: { array: lower },
          upper_bounds: { array: upper },
          sort_order_id: { int: 1 },
        },
      };
    }
  };
  return compiled.encode(entries(), {
    schema: JSON.stringify(toSchema(fields)),
    'schema-id': '0',
    'partition-spec': JSON.stringify(partitionSpec(fields).fields),
    'partition-spec-id': '0',
    'format-version': '2',
    content: 'data',
  });
}

/** What is known of the columns of a file, as the maps of its entry. */
function toColumns(fields: readonly Field[], rows: number, stats: DataFile['stats']) {
  const values: object[] = [];
  const nulls: object[] = [];
  const lower: object[] = [];
  const upper: object[] = [];
  for (const { id, type } of fields) {
    const known = stats[id];
    if (known === undefined) continue;
    values.push({ key: id, value: rows });
    nulls.push({ key: id, value: known.nulls });
    if (!hasBounds(type)) continue;
    if (known.min !== null) lower.push({ key: id, value: encodeBound(type, known.min) });
    if (known.max !== null) upper.push({ key: id, value: encodeBound(type, known.max) });
  }
  return { values, nulls, lower, upper };
}
