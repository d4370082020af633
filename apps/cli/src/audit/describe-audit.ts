import type { Kind } from '@packhouse/chain';
import type { AuditRun, Database } from '@packhouse/database';
import { formatBytes, formatCount } from '../format.js';

/** What audits and repairs of a network left to be seen. */
export interface AuditStanding {
  network: string;
  /** The last scheduled one; null where there was none yet. */
  last: AuditRun | null;
  /** Bundles that a newer version took the place of; their objects are kept. */
  superseded: { kind: Kind; count: number }[];
}

/** Reads it. */
export async function auditStanding(database: Database, network: string): Promise<AuditStanding> {
  const [last, superseded] = await Promise.all([
    database.network(network).audit.last(),
    database.network(network).audit.superseded(),
  ]);
  return { network, last, superseded };
}

/** It in a line for people, or null where there is nothing to say. */
export function describeAudit({ network, last, superseded }: AuditStanding): string | null {
  const parts: string[] = [];
  if (last !== null) {
    const found = last.findings === 0 ? 'no damage' : `${formatCount(last.findings)} findings`;
    const read = `${formatCount(last.bundles)} bundles, ${formatBytes(last.bytesRead)}`;
    parts.push(`last audited at ${last.finishedAt.toISOString()} (${read}): ${found}`);
  }
  if (superseded.length > 0) {
    const counts = superseded.map(({ kind, count }) => `${formatCount(count)} ${kind}`).join(', ');
    parts.push(`superseded by repaired versions and kept: ${counts}`);
  }
  return parts.length === 0 ? null : `${network}: ${parts.join('; ')}.`;
}
