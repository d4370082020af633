import type { Kind } from '@packhouse/chain';
import type { Backfill, Hole, HoleReason, NetworkDatabase } from '@packhouse/database';
import { FINALITY_ALARM } from '@packhouse/pipeline';

/** A hole with its kind, and what it needs. */
export type Undated = { kind: Kind; from: number; to: number; advice: string } & Pick<
  Hole,
  'reason' | 'staged' | 'quarantine'
>;

/** `since`: null if it goes on by itself, or was never begun. */
type HoleRow = Undated & { since: Date | null };

/** Adds since when each hole is held: what holds it is read once for all of them. */
export async function addSince(database: NetworkDatabase, holes: readonly Undated[]): Promise<HoleRow[]> {
  const has = (...reasons: HoleReason[]): boolean => holes.some(({ reason }) => reasons.includes(reason));
  const [backfills, pressure, alarms] = await Promise.all([
    has('paused', 'cancelled') ? database.backfills.list() : [],
    has('throttled') ? database.pressure.get() : null,
    has('halted') ? database.alarms.list() : [],
  ]);
  const halt = alarms.find(({ name }) => name === FINALITY_ALARM);
  const stopped = backfills.filter(({ state }) => state !== 'active');
  return holes.map((hole) => ({ ...hole, since: getSince(hole, { stopped, pressure, halt }) }));
}

function getSince(
  hole: Undated,
  held: {
    stopped: readonly Backfill[];
    pressure: { since: Date } | null;
    halt: { raisedAt: Date } | undefined;
  },
): Date | null {
  const { from, kind, quarantine, reason, to } = hole;
  if (reason === 'quarantined') return quarantine?.firstSeen ?? null;
  if (reason === 'throttled') return held.pressure?.since ?? null;
  if (reason === 'halted') return held.halt?.raisedAt ?? null;
  if (reason !== 'paused' && reason !== 'cancelled') return null;
  // The last one that asked for it, and stopped.
  const times = held.stopped.flatMap((each) =>
    each.state === reason &&
    each.stopped !== null &&
    each.kinds.includes(kind) &&
    each.from <= to &&
    (each.to ?? Number.POSITIVE_INFINITY) >= from
      ? [each.stopped.at.getTime()]
      : [],
  );
  return times.length === 0 ? null : new Date(Math.max(...times));
}
