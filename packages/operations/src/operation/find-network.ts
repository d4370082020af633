import type { Database } from '@packhouse/database';
import { fail } from './fail.js';

/** The named network, or the only one. Throws NETWORK_UNKNOWN, USAGE. */
export async function findNetwork(database: Database, named: string | undefined): Promise<string> {
  const ids = (await database.networks.list()).map((network) => network.id);
  const [only] = ids;
  if (named === undefined && ids.length === 1 && only !== undefined) return only;
  if (named !== undefined && ids.includes(named)) return named;
  const known = ids.length === 0 ? 'No networks yet.' : `Networks: ${ids.join(', ')}.`;
  if (named !== undefined) {
    fail('NETWORK_UNKNOWN', `Unknown network "${named}".`, known);
  }
  fail('USAGE', `Select one of ${ids.length} networks with --network.`, known);
}
