import { type Connections, statement } from '../connection/connections.js';
import type { Database } from '../contract/database.js';

/** $1 network, $2 tag, $3 block, $4 milliseconds that it counts. A higher one that still counts stays as it is. */
const raiseTip = statement(
  'tips/raise-tip',
  `INSERT INTO packhouse.told_tip AS told (network, tag, block, expires_at)
   VALUES ($1, $2, $3, clock_timestamp() + $4::float8 * interval '1 millisecond')
   ON CONFLICT (network, tag) DO UPDATE SET
     block = CASE WHEN told.expires_at > clock_timestamp() THEN greatest(told.block, excluded.block)
       ELSE excluded.block END,
     expires_at = CASE WHEN told.expires_at > clock_timestamp() AND told.block > excluded.block THEN told.expires_at
       ELSE excluded.expires_at END
   RETURNING block`,
);

/** $1, $2 the network's numbers and its gateways. */
const selectTips = statement(
  'tips/select-tips',
  `SELECT network, tag, block FROM packhouse.told_tip
   WHERE network IN ($1, $2) AND expires_at > clock_timestamp()`,
);

/** $1 the network's gateways, $2 id, $3 milliseconds. */
const announceGateway = statement(
  'tips/announce-gateway',
  `WITH gone AS (
     DELETE FROM packhouse.told_tip WHERE network = $1 AND tag <> $2 AND expires_at < clock_timestamp())
   INSERT INTO packhouse.told_tip (network, tag, block, expires_at)
   VALUES ($1, $2, 0, clock_timestamp() + $3::float8 * interval '1 millisecond')
   ON CONFLICT (network, tag) DO UPDATE SET expires_at = excluded.expires_at`,
);

/** A gateway is a row as well: the ids of a network's gateways stand where the tags of its numbers do. */
const gatewaysOf = (network: string): string => `gateways of ${network}`;

/** The newest block numbers that gateways told. */
export function createTips(connections: Connections): Database['tips'] {
  return {
    raise: async (network, tag, number, holdMs) => {
      const [row] = await connections.query<{ block: number }>(raiseTip, [network, tag, number, holdMs]);
      return (row as { block: number }).block;
    },
    read: async (network) => {
      const rows = await connections.query<{ network: string; tag: string; block: number }>(selectTips, [
        network,
        gatewaysOf(network),
      ]);
      const gateways: string[] = [];
      const numbers: Partial<Record<Tag, number>> = {};
      for (const row of rows) {
        if (row.network === network) numbers[row.tag as Tag] = row.block;
        else gateways.push(row.tag);
      }
      return { ...numbers, gateways };
    },
    announce: async (network, id, forMs) => {
      await connections.query(announceGateway, [gatewaysOf(network), id, forMs]);
    },
  };
}

type Tag = Parameters<Database['tips']['raise']>[1];
