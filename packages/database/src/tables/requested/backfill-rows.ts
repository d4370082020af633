import { getKinds } from '../../connection/codes.js';
import type { Backfill } from './backfill-cache.js';

/** What is read of a backfill `w` and its network `n`. */
export const COLUMNS = `w.id, n.name AS network, w.kinds, w.first_block AS "from", w.last_block AS "to", w.priority, w.state,
     w.created_at AS "createdAt", w.owner, w.weight, w.windows, w.deadline, w.max_requests AS "maxRequests",
     w.stopped_at AS "stoppedAt", w.stopped_by AS "stoppedBy", w.stopped_reason AS "stoppedReason"`;

export type Row = Omit<Backfill, 'kinds' | 'stopped'> & {
  kinds: number;
  stoppedAt: Date | null;
  stoppedBy: string;
  stoppedReason: string | null;
};

export function toBackfill(row: Row): Backfill {
  const { stoppedAt, stoppedBy, stoppedReason, ...rest } = row;
  const stopped = stoppedAt && { at: stoppedAt, actor: stoppedBy, reason: stoppedReason };
  return { ...rest, kinds: getKinds(row.kinds), stopped };
}
