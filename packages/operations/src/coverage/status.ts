import type { Kind } from '@packhouse/chain';
import type { AuditRun, Database } from '@packhouse/database';
import {
  type BackfillProgress,
  type CoverageSummary,
  coverageSummary,
  createOverview,
  type NetworkOverview,
  type NetworkStatus,
  networkStatus,
  readBackfillProgress,
} from '@packhouse/report';
import { z } from 'zod';
import { networkField } from '../operation/fields.js';
import { findNetwork } from '../operation/find-network.js';
import { read } from '../operation/operation.js';

/** The audits and repairs of a network. */
export interface AuditState {
  network: string;
  /** The last scheduled audit; null: none yet. */
  last: AuditRun | null;
  /** Replaced bundles; their objects are kept. */
  superseded: { kind: Kind; count: number }[];
}

/** The status of a network. */
export interface FullStatus {
  status: NetworkStatus;
  summary: CoverageSummary;
  audit: AuditState;
  /** Backfills that miss their deadlines, earliest deadline first. */
  late: Pick<BackfillProgress, 'backfill' | 'rate' | 'deadline'>[];
}

/** Deadlines in a status. */
const MAX_DEADLINES = 20;

export const readOverview = read({
  name: 'overview',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'Head, finalized block, completeness, rates, ETA and alarms of each network.',
  run: ({ context, database, queue, overview }): Promise<NetworkOverview[]> =>
    (overview ?? createOverview({ clock: context.clock, database, queue })).look(),
});

export const readStatus = read({
  name: 'status',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'Blocks by state and kind, missing ranges with reasons, and audits, of one network or all.',
  input: z.object({ network: networkField.optional() }),
  run: async ({ database, queue }, { network }): Promise<FullStatus[]> => {
    const ids =
      network === undefined
        ? (await database.networks.list()).map(({ id }) => id)
        : [await findNetwork(database, network)];
    const late = await findLateBackfills(database, ids);
    return Promise.all(
      ids.map(async (id) => {
        const [status, summary, audit] = await Promise.all([
          networkStatus(database, id),
          coverageSummary({ database, queue }, id),
          getAuditState(database, id),
        ]);
        return { status, summary, audit, late: late.filter(({ backfill }) => backfill.network === id) };
      }),
    );
  },
});

export async function getAuditState(database: Database, network: string): Promise<AuditState> {
  const { audit } = database.network(network);
  const [last, superseded] = await Promise.all([audit.last(), audit.superseded()]);
  return { network, last, superseded };
}

async function findLateBackfills(
  database: Database,
  networks: readonly string[],
): Promise<FullStatus['late']> {
  const ranges = (await database.backfills.list())
    .filter(
      ({ network, state, deadline }) => networks.includes(network) && state === 'active' && deadline !== null,
    )
    .sort((a, b) => Number(a.deadline) - Number(b.deadline))
    .slice(0, MAX_DEADLINES);
  const reports = await readBackfillProgress({ database }, ranges);
  return reports
    .filter(({ deadline }) => ['late', 'closed', 'missed'].includes(deadline?.standing ?? ''))
    .map(({ backfill, rate, deadline }) => ({ backfill, rate, deadline }));
}
