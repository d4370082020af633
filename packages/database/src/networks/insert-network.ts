import { statement } from '../connection/statement.js';

/**
 * $1 name, $2 chain id.
 *
 * The sub-select spares the identity: `ON CONFLICT` alone takes a number each time, and there are 32,767.
 */
export const insertNetwork = statement(
  'networks/insert-network',
  `INSERT INTO packhouse.network (name, chain_id)
   SELECT $1::text, $2::int8
   WHERE NOT EXISTS (SELECT 1 FROM packhouse.network WHERE name = $1::text)
   ON CONFLICT (name) DO NOTHING`,
);
