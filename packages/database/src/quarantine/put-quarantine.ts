import { KINDS, type Kind } from '@packhouse/chain';
import type { Connections, Session } from '../connection/connections.js';
import type { Database, QuarantineRow } from '../database.js';
import { deleteQuarantine } from './delete-quarantine.js';
import { lockQuarantine } from './lock-quarantine.js';
import { insertRow, type NewQuarantine, quarantineOf, type StoredQuarantine } from './quarantine-row.js';
import { selectOverlapping } from './select-overlapping.js';

/** One network's quarantine. */
export interface QuarantinePlace {
  network: string;
  networkId: number;
}

/**
 * Adds or renews a row (see Database.quarantine.put).
 *
 * Rows within the new one are taken into it, rows that reach beyond it keep what is beyond. Long rows that touch and
 * fail alike become one: a part of the chain that no node keeps is one row, however many jobs met it.
 */
export function putQuarantine(
  connections: Connections,
  place: QuarantinePlace,
  request: Parameters<Database['quarantine']['put']>[0],
): Promise<QuarantineRow> {
  const { number: start, kinds } = request;
  const end = request.end ?? start;
  return changing(connections, place, async (session, overlapping) => {
    const around = await overlapping({ start: Math.max(0, start - 1), end: end + 1 });
    const taken = around.filter((row) => row.number <= end && row.end >= start);
    // What failed a moment ago and is not due yet failed in this very round: that is one try, not two.
    const attempts = Math.max(1, ...taken.map((row) => row.attempts + (row.due ? 1 : 0)));
    const firstSeen = taken.reduce<Date | null>(
      (first, row) => (first === null || row.firstSeen < first ? row.firstSeen : first),
      null,
    );
    const fresh: NewQuarantine = {
      number: start,
      end,
      kinds: inOrder([...kinds, ...taken.flatMap((row) => row.kinds)]),
      cause: request.cause,
      message: request.message,
      upstream: request.upstream,
      payloadDigest: request.payloadDigest,
      tried: request.tried ?? [],
      attempts,
      firstSeen,
      nextTry: null,
    };
    const rests = taken.flatMap((row) => outside(row, start, end));
    const besides = [...around.filter((row) => !taken.includes(row)), ...rests];
    const joined = besides.filter(
      (row) => (row.end === start - 1 || row.number === end + 1) && !row.due && failAlike(row, fresh),
    );
    for (const row of joined) {
      fresh.number = Math.min(fresh.number, row.number);
      fresh.end = Math.max(fresh.end, row.end);
      fresh.firstSeen = row.firstSeen;
    }
    await remove(session, place, [...taken, ...joined]);
    for (const rest of rests) if (!joined.includes(rest)) await insertRow(session, place, rest);
    return insertRow(session, place, fresh);
  });
}

/** Takes kinds of a range out of the quarantine (see Database.quarantine.settle). */
export async function settleQuarantine(
  connections: Connections,
  place: QuarantinePlace,
  range: { start: number; end: number },
  kinds: readonly Kind[],
): Promise<void> {
  await changing(connections, place, async (session, overlapping) => {
    const rows = (await overlapping(range)).filter((row) => row.kinds.some((kind) => kinds.includes(kind)));
    await remove(session, place, rows);
    for (const row of rows) {
      for (const rest of outside(row, range.start, range.end)) await insertRow(session, place, rest);
      const left = row.kinds.filter((kind) => !kinds.includes(kind));
      if (left.length === 0) continue;
      await insertRow(session, place, {
        ...row,
        kinds: left,
        number: Math.max(row.number, range.start),
        end: Math.min(row.end, range.end),
      });
    }
  });
}

/** One change at a time: rows are split and joined, and two that do so at once would leave overlapping ones. */
function changing<T>(
  connections: Connections,
  { network, networkId }: QuarantinePlace,
  change: (
    session: Session,
    overlapping: (range: { start: number; end: number }) => Promise<(QuarantineRow & { due: boolean })[]>,
  ) => Promise<T>,
): Promise<T> {
  return connections.transaction(async (session) => {
    await session.query(lockQuarantine, [networkId]);
    return change(session, async ({ start, end }) => {
      const rows = await session.query<StoredQuarantine>(selectOverlapping, [networkId, start, end]);
      return rows.map((row) => ({ ...quarantineOf(network, row), due: row.due === true }));
    });
  });
}

async function remove(
  session: Session,
  { networkId }: QuarantinePlace,
  rows: readonly QuarantineRow[],
): Promise<void> {
  if (rows.length > 0) await session.query(deleteQuarantine, [networkId, rows.map((row) => row.number)]);
}

/** What of a row lies before and behind a range. */
function outside<R extends QuarantineRow>(row: R, start: number, end: number): R[] {
  return [
    ...(row.number < start ? [{ ...row, end: start - 1 }] : []),
    ...(row.end > end ? [{ ...row, number: end + 1 }] : []),
  ];
}

function failAlike(row: QuarantineRow, fresh: NewQuarantine): boolean {
  const long = row.end > row.number && fresh.end > fresh.number;
  const same =
    row.cause === fresh.cause && row.upstream === fresh.upstream && row.attempts === fresh.attempts;
  return long && same && row.kinds.join() === fresh.kinds.join();
}

function inOrder(kinds: readonly Kind[]): Kind[] {
  return KINDS.filter((kind) => kinds.includes(kind));
}
