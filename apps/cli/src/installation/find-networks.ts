import { existsSync } from 'node:fs';
import path from 'node:path';
import { loadNetworks, type Network } from '@packhouse/networks';
import type { CliIo } from '../terminal/io.js';
import { DATA_DIRECTORY } from './data-directory.js';

/** The path of `given` or NETWORKS_FILE, else of the file of the `packhouse local` of this data folder; null: no file. */
export function findNetworksFile(
  { cwd, env }: Pick<CliIo, 'cwd' | 'env'>,
  { given, dataDir }: { given?: string | undefined; dataDir?: string | undefined } = {},
): string | null {
  const named = given ?? (env.NETWORKS_FILE || undefined);
  if (named !== undefined) return path.resolve(cwd, named);
  const local = path.resolve(cwd, dataDir ?? DATA_DIRECTORY, 'networks.json');
  return existsSync(local) ? local : null;
}

/** The networks of that file; none if there is no file. */
export async function findNetworks(io: CliIo, dataDir?: string): Promise<Network[]> {
  const file = findNetworksFile(io, { dataDir });
  return file === null ? [] : [...(await loadNetworks(file, io.env))];
}
