import type { Kind } from '@packhouse/chain';
import { getKind, kindCode } from '../../connection/codes.js';
import { type Connections, statement } from '../../connection/connections.js';
import type { NetworkRef } from '../networks/networks.js';

/** A scheduled audit of a sample of a network's bundles. */
export interface AuditRun {
  network: string;
  finishedAt: Date;
  bundles: number;
  bytesRead: number;
  findings: number;
}

/**
 * $1 network id, $2 kind, $3 first blocks: the object keys of all versions, current and superseded, of the bundles
 * that start there. Two look-ups by primary key for each start block.
 */
const selectKnownKeys = statement(
  'audit/select-known-keys',
  `SELECT object_key AS key
   FROM packhouse.bundle
   WHERE network_id = $1::int2 AND kind = $2::int2 AND first_block = ANY ($3::int8[])
   UNION ALL
   SELECT object_key
   FROM packhouse.superseded_bundle
   WHERE network_id = $1::int2 AND kind = $2::int2 AND first_block = ANY ($3::int8[])`,
);

/** $1 network id: how many bundles of each kind were superseded, from a stored count. */
const selectSupersededByKind = statement(
  'audit/select-superseded-by-kind',
  `SELECT kind, superseded AS count
   FROM packhouse.published
   WHERE network_id = $1::int2 AND superseded > 0
   ORDER BY kind`,
);

/** $1 network id, $2 finished at, $3 bundles, $4 bytes read, $5 findings. */
const upsertRun = statement(
  'audit/upsert-run',
  `INSERT INTO packhouse.audit (network_id, finished_at, bundles, bytes_read, findings)
   VALUES ($1::int2, $2::timestamptz, $3::int8, $4::int8, $5::int8)
   ON CONFLICT (network_id) DO UPDATE SET
     finished_at = excluded.finished_at,
     bundles = excluded.bundles,
     bytes_read = excluded.bytes_read,
     findings = excluded.findings`,
);

/** $1 network id. */
const selectRun = statement(
  'audit/select-run',
  `SELECT finished_at AS "finishedAt", bundles, bytes_read AS "bytesRead", findings
   FROM packhouse.audit
   WHERE network_id = $1::int2`,
);

/** Data of audits beside the range index, and the result of the last one. */
export function createAudit(connections: Connections, network: NetworkRef) {
  return {
    /** The object keys, superseded ones included, of the bundles that start at one of these blocks. */
    async knownKeys(kind: Kind, starts: readonly number[]): Promise<Set<string>> {
      const values = [await network.find(), kindCode(kind), starts];
      const rows = await connections.query<{ key: string }>(selectKnownKeys, values);
      return new Set(rows.map(({ key }) => key));
    },
    /** Superseded bundles by kind; kinds without any are left out. */
    async superseded() {
      const values = [await network.find()];
      const rows = await connections.query<{ kind: number; count: number }>(selectSupersededByKind, values);
      return rows.map(({ kind, count }) => ({ kind: getKind(kind), count }));
    },
    /** Stores the result of a scheduled audit. Throws NETWORK_UNKNOWN. */
    async note({ finishedAt, bundles, bytesRead, findings }: Omit<AuditRun, 'network'>): Promise<void> {
      await connections.query(upsertRun, [await network.get(), finishedAt, bundles, bytesRead, findings]);
    },
    /** The last stored audit, or null. */
    async last(): Promise<AuditRun | null> {
      const row = await connections.queryOne<Omit<AuditRun, 'network'>>(selectRun, [await network.find()]);
      return row && { network: network.name, ...row };
    },
  };
}
