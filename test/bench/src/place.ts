import { setMaxListeners } from 'node:events';
import path from 'node:path';
import { createDatabase, type Database, migrate } from '@packhouse/database';
import { type Scope, silentContext, startPostgres, temporaryDirectory } from '@packhouse/local';
import { type Network, parseNetworks } from '@packhouse/networks';
import { openSigners, type SignerSource } from '@packhouse/pipeline';
import type { Context } from '@packhouse/runtime';

/** A separate migrated Postgres and a folder, both removed with the scope. */
export interface Place {
  context: Context;
  directory: string;
  url: string;
  database: Database;
  /** Packing signs what it publishes, as in production. */
  signers: SignerSource;
}

/** Creates a place; `settings` of Postgres override those of `packhouse local`. */
export async function openPlace(
  scope: Scope,
  settings: Readonly<Record<string, string>> = {},
): Promise<Place> {
  const directory = await temporaryDirectory(scope, 'bench');
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const context: Context = silentContext({ signal: stop.signal });
  const postgres = await startPostgres({ directory: path.join(directory, 'postgres'), settings });
  scope.defer(() => postgres.stop());
  await migrate({ connectionString: postgres.url });
  const database = createDatabase({ connectionString: postgres.url, context, applicationName: 'bench' });
  scope.defer(() => database.close());
  scope.defer(() => stop.abort());
  const signers = await openSigners({ context, database, file: path.join(directory, 'signing-key.pem') });
  return { context, directory, url: postgres.url, database, signers };
}

/** The networks file of one network called `ethereum`, and that network. */
export function oneNetwork(nodeUrl: string): { file: string; network: Network } {
  const file = JSON.stringify({
    networks: [{ id: 'ethereum', family: 'evm', chainId: 1, upstreams: [{ url: nodeUrl }] }],
  });
  return { file, network: parseNetworks(file, { source: 'bench', env: {} })[0] as Network };
}
