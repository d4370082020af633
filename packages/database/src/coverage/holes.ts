import type { BlockRange, Kind } from '@packhouse/chain';
import { kindCode } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import type { NetworkRef } from '../tables/networks/networks.js';
import { readColumns } from './columns.js';
import { countHoles, type HoleCounts } from './count-holes.js';
import type { QueueHints } from './hole-reasons.js';
import { hintsJson } from './hole-reasons-sql.js';
import { cutPage, type HoleRow, selectHoles } from './holes-page.js';
import { readStanding } from './standing.js';

type HolesRequest = {
  kinds: readonly Kind[];
  range: BlockRange;
};

/** $1 network id, $2 kinds (codes), $3 first block, $4 last block, $5 limit: a row if more requested runs begin there. */
const selectScattered = statement(
  'coverage/select-scattered',
  `SELECT FROM packhouse.requested_run
   WHERE network_id = $1 AND kind = ANY ($2::int2[]) AND first_block BETWEEN $3 AND $4
   OFFSET $5 LIMIT 1`,
);

/** $1 network id, $2 kind, $3 block: the last published run or staged fragment before it and the first after it. */
const selectAround = statement(
  'coverage/select-around',
  `SELECT * FROM (
     (SELECT 'below' AS side, first_block AS "firstBlock", last_block AS "lastBlock" FROM packhouse.published_run
      WHERE network_id = $1 AND kind = $2 AND first_block < $3 ORDER BY first_block DESC LIMIT 1)
     UNION ALL
     (SELECT 'below', first_block, last_block FROM packhouse.fragment
      WHERE network_id = $1 AND kind = $2 AND first_block < $3 ORDER BY first_block DESC LIMIT 1)
     UNION ALL
     (SELECT 'above', first_block, last_block FROM packhouse.published_run
      WHERE network_id = $1 AND kind = $2 AND first_block > $3 ORDER BY first_block LIMIT 1)
     UNION ALL
     (SELECT 'above', first_block, last_block FROM packhouse.fragment
      WHERE network_id = $1 AND kind = $2 AND first_block > $3 ORDER BY first_block LIMIT 1)
   ) AS near`,
);

/** Reads the blocks that are not published, and why. A network that was never registered is one hole. */
export function createHoles(connections: Connections, network: NetworkRef) {
  const place = async ({ kinds, range }: HolesRequest): Promise<unknown[]> => [
    await network.find(),
    kinds.map(kindCode),
    range.firstBlock,
    range.lastBlock,
  ];
  const hintsOf = (hints: QueueHints | undefined): Map<string, QueueHints> =>
    new Map(hints === undefined ? [] : [[network.name, hints]]);
  return {
    /**
     * Published ranges and holes of the kinds within the range, from its start on: at most `limit` holes per kind, and
     * at least one block. Its cost grows with the page, not with the number of bundles.
     */
    async page(request: HolesRequest & { limit: number; hints?: QueueHints | undefined }) {
      const values = [...(await place(request)), request.limit, hintsJson(hintsOf(request.hints))];
      return cutPage(await connections.query<HoleRow>(selectHoles, values), request);
    },
    /** Counts the blocks of the range by state, one row for each requested kind. The cost grows with all holes. */
    async count({
      hints,
      ...asked
    }: HolesRequest & { hints?: QueueHints | undefined }): Promise<HoleCounts[]> {
      const [counts] = await countHoles(connections, [{ ...asked, network: network.name }], hintsOf(hints));
      return counts as HoleCounts[];
    },
    /** What is missing, and why, by columns (see readColumns). */
    columns: (request: Parameters<typeof readColumns>[2]) => readColumns(connections, network, request),
    /** Whether more than `limit` separate ranges of these kinds are requested, or were, within the range. */
    isScattered: async (request: HolesRequest & { limit: number }) =>
      (await connections.queryOne(selectScattered, [...(await place(request)), request.limit])) !== null,
    /** The nearest ranges of published or staged blocks below and above a block that is neither. */
    async around(kind: Kind, block: number): Promise<{ below: BlockRange | null; above: BlockRange | null }> {
      const values = [await network.find(), kindCode(kind), block];
      const rows = await connections.query<BlockRange & { side: string }>(selectAround, values);
      const side = (name: string): BlockRange[] =>
        rows.filter((row) => row.side === name).map(({ side: _, ...range }) => range);
      return {
        below: side('below').sort((a, b) => b.lastBlock - a.lastBlock)[0] ?? null,
        above: side('above').sort((a, b) => a.firstBlock - b.firstBlock)[0] ?? null,
      };
    },
    standing: async () => readStanding(connections, await network.find()),
  };
}
