import type { Kind } from '@packhouse/chain';
import type { AuditRun, Database } from '@packhouse/database';
import {
  type CoverageSummary,
  coverageSummary,
  createOverview,
  type NetworkStatus,
  networkStatus,
  type RangeReport,
  rangeReport,
} from '@packhouse/pipeline';
import { z } from 'zod';
import { networkField } from './fields.js';
import { findNetwork } from './find-network.js';
import { operation } from './operation.js';

/** The results of audits and repairs of a network. */
export interface AuditStanding {
  network: string;
  /** The last scheduled audit; null if there was none yet. */
  last: AuditRun | null;
  /** Bundles that a newer version replaced; their objects are kept. */
  superseded: { kind: Kind; count: number }[];
}

/** All that `packhouse status` shows of a network. */
export interface FullStatus {
  status: NetworkStatus;
  summary: CoverageSummary;
  audit: AuditStanding;
  /** Backfills whose deadlines are not kept, the first ones first. */
  late: Pick<RangeReport, 'range' | 'rate' | 'deadline'>[];
}

/** Deadlines that one status judges. */
const MOST_DEADLINES = 20;

export const readOverview = operation({
  name: 'overview',
  kind: 'read',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'All networks in a row each: head, final, complete up to, rates, what is left, alarms.',
  input: z.object({}),
  run: ({ context, database, queue, overview }) =>
    (overview ?? createOverview({ clock: context.clock, database, queue })).look(),
});

export const readStatus = operation({
  name: 'status',
  kind: 'read',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'Of a network, or of all: blocks by state and kind, missing ranges, reasons, causes, audits.',
  input: z.object({ network: networkField.optional() }),
  run: async ({ database, queue }, { network }): Promise<FullStatus[]> => {
    const ids =
      network === undefined
        ? (await database.networks.list()).map(({ id }) => id)
        : [await findNetwork(database, network)];
    const late = await lateRanges(database, ids);
    return Promise.all(
      ids.map(async (id) => {
        const [status, summary, audit] = await Promise.all([
          networkStatus(database, id),
          coverageSummary({ database, queue }, id),
          auditStanding(database, id),
        ]);
        return { status, summary, audit, late: late.filter(({ range }) => range.network === id) };
      }),
    );
  },
});

/** The last audit of a network, and what was published again. */
export async function auditStanding(database: Database, network: string): Promise<AuditStanding> {
  const { audit } = database.network(network);
  const [last, superseded] = await Promise.all([audit.last(), audit.superseded()]);
  return { network, last, superseded };
}

async function lateRanges(database: Database, networks: readonly string[]): Promise<FullStatus['late']> {
  const ranges = (await database.wanted.list())
    .filter(
      ({ network, state, deadline }) => networks.includes(network) && state === 'active' && deadline !== null,
    )
    .sort((a, b) => Number(a.deadline) - Number(b.deadline))
    .slice(0, MOST_DEADLINES);
  const reports = await Promise.all(ranges.map((range) => rangeReport({ database }, range)));
  return reports
    .filter(({ deadline }) => ['late', 'closed', 'missed'].includes(deadline?.standing ?? ''))
    .map(({ range, rate, deadline }) => ({ range, rate, deadline }));
}
