import type { Field } from './fields.js';
import { LAST_PARTITION_ID, partitionSpec } from './partition.js';

/** A table as its readers are to see it. */
interface TableState {
  uuid: string;
  location: string;
  fields: readonly Field[];
  properties: Readonly<Record<string, string>>;
  /** null: nothing was written yet. */
  snapshot: {
    id: number;
    madeAt: Date;
    /** Address of its list of manifests. */
    manifestList: string;
    files: number;
    rows: number;
    bytes: number;
    /** Of the snapshot alone. */
    properties: Readonly<Record<string, string>>;
  } | null;
}

/** A schema as JSON (Iceberg specification, appendix C). */
export function toSchema(fields: readonly Field[]): object {
  return {
    type: 'struct',
    'schema-id': 0,
    fields: fields.map(({ id, name, type, required }) => ({ id, name, required, type })),
  };
}

/** The metadata of a table, v2, with its newest snapshot alone: files of others are not kept for long. */
export function tableMetadata({ uuid, location, fields, properties, snapshot }: TableState): object {
  const block = fields.find(({ name }) => name === 'block_number');
  const sorted = block === undefined ? [] : [sortedBy(block.id)];
  return {
    'format-version': 2,
    'table-uuid': uuid,
    location,
    'last-sequence-number': snapshot?.id ?? 0,
    'last-updated-ms': snapshot?.madeAt.getTime() ?? 0,
    'last-column-id': fields.reduce((most, { id }) => Math.max(most, id), 0),
    'current-schema-id': 0,
    schemas: [toSchema(fields)],
    'default-spec-id': 0,
    'partition-specs': [partitionSpec(fields)],
    'last-partition-id': LAST_PARTITION_ID,
    'default-sort-order-id': sorted.length,
    'sort-orders': [{ 'order-id': 0, fields: [] }, ...sorted],
    properties,
    'current-snapshot-id': snapshot?.id ?? -1,
    refs: snapshot === null ? {} : { main: { 'snapshot-id': snapshot.id, type: 'branch' } },
    snapshots: snapshot === null ? [] : [toSnapshot(snapshot)],
    'snapshot-log':
      snapshot === null ? [] : [{ 'snapshot-id': snapshot.id, 'timestamp-ms': snapshot.madeAt.getTime() }],
    'metadata-log': [],
    statistics: [],
    'partition-statistics': [],
  };
}

function toSnapshot(snapshot: NonNullable<TableState['snapshot']>): object {
  return {
    'snapshot-id': snapshot.id,
    'sequence-number': snapshot.id,
    'timestamp-ms': snapshot.madeAt.getTime(),
    'manifest-list': snapshot.manifestList,
    'schema-id': 0,
    summary: {
      operation: 'overwrite',
      'total-data-files': String(snapshot.files),
      'total-records': String(snapshot.rows),
      'total-files-size': String(snapshot.bytes),
      ...snapshot.properties,
    },
  };
}

function sortedBy(id: number): object {
  return {
    'order-id': 1,
    fields: [{ transform: 'identity', 'source-id': id, direction: 'asc', 'null-order': 'nulls-first' }],
  };
}
