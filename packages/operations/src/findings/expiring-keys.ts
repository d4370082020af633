import type { Database } from '@packhouse/database';
import { DAY_MS } from '@packhouse/runtime';
import type { Finding } from './finding.js';

/** Keys that are listed one by one. */
const MAX_LISTED = 10;
const HOUR_MS = 3_600_000;

/** The keys in use that end within days, the next first; of more than a few, that there are more. */
export async function findExpiringKeys(keys: Database['keys']): Promise<Finding[]> {
  const rows = await keys.expiring(MAX_LISTED + 1);
  const rest = { kind: 'key-expires' as const, network: '', since: null, alarms: [] };
  const listed = rows.slice(0, MAX_LISTED).map(({ application, expiresAt, leftMs, prefix }): Finding => {
    const message = `key ${prefix} of ${application} is in use and expires in ${formatLeft(leftMs)}.`;
    const detail = 'Extend it, or move its client to another key.';
    return { ...rest, message, detail, until: expiresAt, key: prefix };
  });
  if (rows.length <= MAX_LISTED) return listed;
  return [...listed, { ...rest, message: 'more keys in use expire soon.', detail: null, until: null }];
}

function formatLeft(ms: number): string {
  const [value, unit] = ms >= 2 * DAY_MS ? [ms / DAY_MS, 'days'] : [Math.max(0, ms) / HOUR_MS, 'h'];
  return `${Math.floor(value)} ${unit}`;
}
