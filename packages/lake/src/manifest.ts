import { type AvroFile, compileAvro } from './avro.js';
import { type ColumnStats, encodeBound, hasBounds } from './bounds.js';
import type { Field } from './fields.js';
import { toSchema } from './table-metadata.js';

/** A data file as a manifest has it. */
export interface DataFile {
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

/** Iceberg specification, "Manifests", v2: only what tables have that are neither partitioned nor deleted from. */
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
          { name: 'partition', type: { type: 'record', name: 'r102', fields: [] }, 'field-id': 102 },
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
  const bounded = fields.filter(({ type }) => hasBounds(type));
  const entries = function* (): Generator<object> {
    for (const { location, rows, bytes, addedSnapshot, stats } of files) {
      const known = fields.filter(({ id }) => stats[id] !== undefined);
      const bounds = (side: 'min' | 'max'): object[] =>
        bounded.flatMap(({ id, type }) => {
          const value = stats[id]?.[side] ?? null;
          return value === null ? [] : [{ key: id, value: encodeBound(type, value) }];
        });
      yield {
        status: EXISTING,
        snapshot_id: addedSnapshot,
        sequence_number: addedSnapshot,
        file_sequence_number: addedSnapshot,
        data_file: {
          content: 0,
          file_path: location,
          file_format: 'PARQUET',
          partition: {},
          record_count: rows,
          file_size_in_bytes: bytes,
          value_counts: known.map(({ id }) => ({ key: id, value: rows })),
          null_value_counts: known.map(({ id }) => ({ key: id, value: stats[id]?.nulls ?? 0 })),
          lower_bounds: bounds('min'),
          upper_bounds: bounds('max'),
          sort_order_id: 1,
        },
      };
    }
  };
  return compiled.encode(entries(), {
    schema: JSON.stringify(toSchema(fields)),
    'schema-id': '0',
    'partition-spec': '[]',
    'partition-spec-id': '0',
    'format-version': '2',
    content: 'data',
  });
}
