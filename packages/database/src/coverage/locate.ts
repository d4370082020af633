import type { FragmentInfo } from '@packhouse/bundle';
import type { Kind, NotProved } from '@packhouse/chain';
import { getNotProved, kindCode } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import { FRAGMENT } from '../staging/rows.js';
import { segmentStart } from '../staging/segments.js';
import type { NetworkRef } from '../tables/networks/networks.js';
import type { BundleRow, createBundles } from '../tables/published/bundles.js';

/** $1 network id, $2 kind, $3 block, $4 first block of its segment: the staged fragment that holds the block, and its hash. */
const selectFragmentAt = statement(
  'coverage/select-fragment-at',
  `SELECT last.*, s.not_proved, '0x' || encode(s.hash, 'hex') AS hash FROM (
     SELECT ${FRAGMENT}
     FROM packhouse.fragment
     WHERE network_id = $1 AND kind = $2 AND first_block BETWEEN $4 AND $3
     ORDER BY first_block DESC
     LIMIT 1
   ) AS last
   JOIN packhouse.staged_block AS s ON s.network_id = $1 AND s.block = $3
   WHERE "lastBlock" >= $3`,
);

/** The place of a block's data of one kind. */
type BlockLocation =
  | { state: 'published'; bundle: BundleRow }
  /** `hash` of the block that the fragment has; `notProved` as in StagedBlock. */
  | { state: 'staged'; fragment: FragmentInfo; hash: string; notProved?: readonly NotProved[] }
  | { state: 'absent' };

/**
 * Finds a block, published first.
 *
 * A block may be published and reclaimed between the two queries, so a block that neither finds is looked up in the
 * bundles once more.
 */
export function createLocate(
  connections: Connections,
  network: NetworkRef,
  { covering }: Pick<ReturnType<typeof createBundles>, 'covering'>,
) {
  return async (kind: Kind, number: number): Promise<BlockLocation> => {
    const bundle = await covering(kind, number);
    if (bundle !== null) return { state: 'published', bundle };
    const values = [await network.find(), kindCode(kind), number, segmentStart(number)];
    type Row = FragmentInfo & { hash: string; not_proved: string };
    const row = await connections.queryOne<Row>(selectFragmentAt, values);
    if (row !== null) {
      const { not_proved: text, hash, ...fragment } = row;
      return { state: 'staged', fragment, hash, notProved: text ? getNotProved(text) : undefined };
    }
    const late = await covering(kind, number);
    return late === null ? { state: 'absent' } : { state: 'published', bundle: late };
  };
}
