import { kindsMask, kindsOf } from '../connection/codes.js';
import type { Session } from '../connection/connections.js';
import type { QuarantineRow, QuarantineTry } from '../database.js';
import { insertQuarantine } from './insert-quarantine.js';

/** A row as Postgres gives it. */
export interface StoredQuarantine {
  block: number;
  blocks: number;
  kinds: number;
  cause: string;
  message: string;
  upstream: string | null;
  payload_digest: Buffer | null;
  attempts: number;
  first_seen: Date;
  next_try: Date;
  tried: QuarantineTry[];
  /** Where it was asked for: whether the next try is due. */
  due?: boolean;
}

/** The row as the port gives it. */
export function quarantineOf(network: string, row: StoredQuarantine): QuarantineRow {
  return {
    network,
    number: row.block,
    end: row.block + row.blocks - 1,
    kinds: kindsOf(row.kinds),
    cause: row.cause,
    message: row.message,
    upstream: row.upstream,
    payloadDigest: row.payload_digest === null ? null : row.payload_digest.toString('hex'),
    attempts: row.attempts,
    firstSeen: row.first_seen,
    nextTry: row.next_try,
    tried: row.tried,
  };
}

/** A row to be written; without times it is new. */
export type NewQuarantine = Omit<QuarantineRow, 'network' | 'firstSeen' | 'nextTry'> & {
  firstSeen: Date | null;
  nextTry: Date | null;
};

/** Writes one row and gives it back. */
export async function insertRow(
  session: Session,
  at: { network: string; networkId: number },
  row: NewQuarantine,
): Promise<QuarantineRow> {
  const digest = row.payloadDigest === null ? null : Buffer.from(row.payloadDigest, 'hex');
  const [written] = await session.query<StoredQuarantine>(insertQuarantine, [
    at.networkId,
    row.number,
    row.end - row.number + 1,
    kindsMask(row.kinds),
    row.cause,
    row.message,
    row.upstream,
    digest,
    row.attempts,
    row.firstSeen,
    row.nextTry,
    JSON.stringify(row.tried),
  ]);
  return quarantineOf(at.network, written as StoredQuarantine);
}
