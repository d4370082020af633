import { hash } from 'node:crypto';
import type { NetworkDatabase, QuarantineRow } from '@packhouse/database';
import type { FetchedBlock } from '@packhouse/node-rpc';
import { type Context, isPackhouseError, PackhouseError } from '@packhouse/runtime';
import type { AlarmName } from '../alarm-names.js';

/** The alarm of a network whose chain has a fork that this version does not know. */
export const FORK_ALARM = 'FORK_UNKNOWN' satisfies AlarmName;

/** A block whose header does not hash to its hash, and has fields that no table names. */
export interface StrangeHeader {
  upstream: string;
  fields: readonly string[];
  /** SHA-256 of the block, whatever the order of its members. */
  digest: string;
}

/** The strange header behind a failed proof, or null. */
export function strangeHeader(
  error: unknown,
  { block, upstream }: Pick<FetchedBlock, 'block' | 'upstream'>,
): StrangeHeader | null {
  if (!isPackhouseError(error, 'PROOF_FAILED') || error.data.proof !== 'headerHash') return null;
  const fields = error.data.unknownFields as readonly string[] | undefined;
  if (fields === undefined || fields.length === 0) return null;
  const text = JSON.stringify(block, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return { upstream, fields, digest: hash('sha256', text) };
}

/**
 * FORK_UNKNOWN if two upstreams or more gave the same block with a strange header, and none another one; else null:
 * a single upstream may be damaged. `cause`: the failed proof.
 */
export function forkUnknown(
  number: number,
  headers: readonly StrangeHeader[],
  cause?: Error,
): PackhouseError | null {
  const [first] = headers;
  if (first === undefined || headers.length < 2 || headers.some(({ digest }) => digest !== first.digest)) {
    return null;
  }
  const { fields } = first;
  const upstreams = headers.map(({ upstream }) => upstream);
  return new PackhouseError({
    code: 'FORK_UNKNOWN',
    message: `Block ${number}: its header has ${describe(fields, upstreams)}.`,
    hint: 'Update Packhouse. One block is tried every few minutes until then, and the rest follows by itself.',
    data: { block: number, fields, upstreams },
    cause,
  });
}

function describe(fields: readonly string[], upstreams: readonly string[]): string {
  const [what, are] = fields.length === 1 ? ['the field', 'is'] : ['the fields', 'are'];
  return `${what} ${fields.join(', ')}, which ${are} new to this version, and its hash does not match without the rule for it; ${upstreams.join(' and ')} agree byte for byte, so the fork is unknown to this version`;
}

/** Raises the alarm for a quarantined range, and logs it the first time. */
export async function raiseForkAlarm(
  { context, database, network }: { context: Context; database: NetworkDatabase; network: string },
  { firstBlock }: QuarantineRow,
  error: PackhouseError,
): Promise<void> {
  const { fields, upstreams } = error.data as { fields: string[]; upstreams: string[] };
  const { isNew } = await database.alarms.raise({
    name: FORK_ALARM,
    message: `From block ${firstBlock} on a header has ${describe(fields, upstreams)}. Update Packhouse.`,
    data: { fields, upstreams, from: firstBlock },
  });
  const facts = { network, alarm: FORK_ALARM, err: error };
  if (isNew) context.logger.fatal(facts, 'ALARM: this version does not know a fork of the chain');
}
