import { kindCode, notProvedOf } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import type { NetworkDatabase } from '../contract/database.js';
import { type FragmentRow, fragmentInfo } from '../staging/rows.js';
import { segmentStart } from '../staging/segments.js';
import type { NetworkRef } from '../tables/networks.js';

/** $1 network id, $2 kind, $3 block, $4 first block of its segment: the staged fragment that holds the block. */
const selectFragmentAt = statement(
  'coverage/select-fragment-at',
  `SELECT last.*, (
     SELECT not_proved FROM packhouse.staged_block WHERE network_id = $1 AND staged_block.block = $3
   ) AS not_proved FROM (
     SELECT block, end_block, octet_length(body) AS byte_length, raw_length, crc32
     FROM packhouse.fragment
     WHERE network_id = $1 AND kind = $2 AND block BETWEEN $4 AND $3
     ORDER BY block DESC
     LIMIT 1
   ) AS last
   WHERE end_block >= $3`,
);

/**
 * Finds a block, published first.
 *
 * A block may be published and reclaimed between the two queries, so a block that neither finds is looked up in the
 * bundles once more.
 */
export function createLocate(
  connections: Connections,
  network: NetworkRef,
  { covering }: Pick<NetworkDatabase['bundles'], 'covering'>,
): NetworkDatabase['locate'] {
  return async (kind, number) => {
    const bundle = await covering(kind, number);
    if (bundle !== null) return { state: 'published', bundle };
    const values = [await network.find(), kindCode(kind), number, segmentStart(number)];
    const [fragment] = await connections.query<FragmentRow & { not_proved: string | null }>(
      selectFragmentAt,
      values,
    );
    if (fragment !== undefined) {
      const notProved = notProvedOf(fragment.not_proved ?? '');
      const found = { state: 'staged', fragment: fragmentInfo(fragment) } as const;
      return notProved.length === 0 ? found : { ...found, notProved };
    }
    const late = await covering(kind, number);
    return late === null ? { state: 'absent' } : { state: 'published', bundle: late };
  };
}
