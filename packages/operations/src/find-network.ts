import type { Database } from '@packhouse/database';
import { PackhouseError } from '@packhouse/runtime';

/** The network that was named, or the only one there is. Throws NETWORK_UNKNOWN, USAGE. */
export async function findNetwork(database: Database, named: string | undefined): Promise<string> {
  const ids = (await database.networks.list()).map((network) => network.id);
  const [only] = ids;
  if (named === undefined && ids.length === 1 && only !== undefined) return only;
  if (named !== undefined && ids.includes(named)) return named;
  const known = ids.length === 0 ? 'It knows none yet.' : `It knows ${ids.join(', ')}.`;
  if (named !== undefined) {
    throw new PackhouseError({
      code: 'NETWORK_UNKNOWN',
      message: `The database does not know a network "${named}".`,
      hint: known,
    });
  }
  throw new PackhouseError({
    code: 'USAGE',
    message: `Say which network with --network: the database knows ${ids.length}.`,
    hint: known,
  });
}
