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

/** $1 network. */
const selectTips = statement(
  'tips/select-tips',
  'SELECT tag, block FROM packhouse.told_tip WHERE network = $1 AND expires_at > clock_timestamp()',
);

/** The newest block numbers that gateways told. */
export function createTips(connections: Connections): Database['tips'] {
  return {
    raise: async (network, tag, number, holdMs) => {
      const [row] = await connections.query<{ block: number }>(raiseTip, [network, tag, number, holdMs]);
      return (row as { block: number }).block;
    },
    read: async (network) => {
      const rows = await connections.query<{ tag: Tag; block: number }>(selectTips, [network]);
      return Object.fromEntries(rows.map(({ tag, block }) => [tag, block]));
    },
  };
}

type Tag = Parameters<Database['tips']['raise']>[1];
