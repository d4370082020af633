import { type Connections, statement } from '../../connection/connections.js';

/** $1 network, $2 tag, $3 block, $4 milliseconds that it counts. A higher one that still counts stays as it is. */
const raiseTip = statement(
  'tips/raise-tip',
  `INSERT INTO packhouse.advertised_tip AS a (network, tag, block, expires_at)
   VALUES ($1, $2, $3, clock_timestamp() + $4::float8 * interval '1 millisecond')
   ON CONFLICT (network, tag) DO UPDATE SET
     block = CASE WHEN a.expires_at > clock_timestamp() THEN greatest(a.block, excluded.block)
       ELSE excluded.block END,
     expires_at = CASE WHEN a.expires_at > clock_timestamp() AND a.block > excluded.block THEN a.expires_at
       ELSE excluded.expires_at END
   RETURNING block`,
);

/** $1 network, $2 tag, $3 block, or null for none: then it counts no more. A lower one stays as it is. */
const lowerTip = statement(
  'tips/lower-tip',
  `UPDATE packhouse.advertised_tip
   SET block = coalesce($3, block),
     expires_at = CASE WHEN $3::int8 IS NULL THEN clock_timestamp() ELSE expires_at END
   WHERE network = $1 AND tag = $2 AND block > coalesce($3, -1)`,
);

/** $1, $2 the network's numbers and its gateways. */
const selectTips = statement(
  'tips/select-tips',
  `SELECT network, tag, block FROM packhouse.advertised_tip
   WHERE network IN ($1, $2) AND expires_at > clock_timestamp()`,
);

/** $1 the network's gateways, $2 id, $3 milliseconds. */
const announceGateway = statement(
  'tips/announce-gateway',
  `WITH gone AS (
     DELETE FROM packhouse.advertised_tip WHERE network = $1 AND tag <> $2 AND expires_at < clock_timestamp())
   INSERT INTO packhouse.advertised_tip (network, tag, block, expires_at)
   VALUES ($1, $2, 0, clock_timestamp() + $3::float8 * interval '1 millisecond')
   ON CONFLICT (network, tag) DO UPDATE SET expires_at = excluded.expires_at`,
);

/** $1 the network's epoch, $2 the least that it is afterwards. */
const raiseEpoch = statement(
  'tips/raise-epoch',
  `INSERT INTO packhouse.advertised_tip AS a (network, tag, block, expires_at)
   VALUES ($1, 'epoch', greatest($2::int8, 1), clock_timestamp() + interval '1 day')
   ON CONFLICT (network, tag) DO UPDATE SET
     block = greatest(a.block + 1, excluded.block), expires_at = excluded.expires_at
   RETURNING block`,
);

const selectEpoch = statement(
  'tips/select-epoch',
  `SELECT block FROM packhouse.advertised_tip WHERE network = $1 AND tag = 'epoch'`,
);

/** The epoch of a network's answers is a row, too. */
const getEpochName = (network: string): string => `epoch of ${network}`;

/** A gateway is a row as well: the ids of a network's gateways stand where the tags of its numbers do. */
const getGateways = (network: string): string => `gateways of ${network}`;

type Tag = 'latest' | 'safe' | 'finalized';

/** The newest block numbers that gateways advertise; `network` is any name that they agree on. */
export function createTips(connections: Connections) {
  return {
    /**
     * Raises a number, which counts for `holdMs` after it was raised last. Returns the one that counts: a higher one that
     * another gateway advertised, or this.
     */
    async raise(network: string, tag: Tag, number: number, holdMs: number): Promise<number> {
      const row = await connections.queryOne<{ block: number }>(raiseTip, [network, tag, number, holdMs]);
      return row!.block;
    },
    /** Lowers a number that is higher; null: none counts any more. */
    lower: async (network: string, tag: Tag, number: number | null) =>
      void (await connections.query(lowerTip, [network, tag, number])),
    /** The numbers that count, and the ids of the running gateways. */
    async read(network: string): Promise<Partial<Record<Tag, number>> & { gateways: readonly string[] }> {
      const values = [network, getGateways(network)];
      const rows = await connections.query<{ network: string; tag: Tag; block: number }>(selectTips, values);
      const own = rows.filter((row) => row.network === network);
      return {
        ...Object.fromEntries(own.map(({ tag, block }) => [tag, block])),
        gateways: rows.filter((row) => row.network !== network).map(({ tag }) => tag),
      };
    },
    /** The epoch of the answers that gateways keep; 0 if it was never raised. */
    async readEpoch(network: string): Promise<number> {
      const row = await connections.queryOne<{ block: number }>(selectEpoch, [getEpochName(network)]);
      return row?.block ?? 0;
    },
    /** Raises the epoch by one, and at least to this number. Returns it. */
    async raiseEpoch(network: string, atLeast: number): Promise<number> {
      const row = await connections.queryOne<{ block: number }>(raiseEpoch, [getEpochName(network), atLeast]);
      return row!.block;
    },
    /** Notes that a gateway runs, for so many milliseconds. */
    announce: async (network: string, id: string, forMs: number) =>
      void (await connections.query(announceGateway, [getGateways(network), id, forMs])),
  };
}
