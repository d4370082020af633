import { existsSync } from 'node:fs';
import path from 'node:path';
import { createProver } from '@packhouse/chain';
import { loadNetworks, type Network } from '@packhouse/networks';
import { createBlockSource } from '@packhouse/node-rpc';
import { type ObjectStore, openObjectStore } from '@packhouse/object-store';
import { fetchWish, type OpenRepair } from '@packhouse/pipeline';
import {
  type Context,
  loadSettings,
  objectStoreSetting,
  PackhouseError,
  s3EndpointSetting,
} from '@packhouse/runtime';
import { z } from 'zod';
import type { CliIo } from '../io.js';
import { DATA_DIRECTORY } from '../local/data-directory.js';

const storeSettings = z.object({ OBJECT_STORE: objectStoreSetting(), S3_ENDPOINT: s3EndpointSetting() });

/** The object store: OBJECT_STORE, else the folder of a `packhouse local` in this data folder. */
export async function openStore(io: CliIo, context: Context, dataDir?: string): Promise<ObjectStore> {
  const env = { ...io.env };
  const local = path.resolve(io.cwd, dataDir ?? DATA_DIRECTORY, 'objects');
  if (!env.OBJECT_STORE && existsSync(local)) env.OBJECT_STORE = local;
  const settings = loadSettings(storeSettings, env);
  const folder = settings.OBJECT_STORE.replace(/^disk:/i, '');
  // A store makes its folder where there is none: an audit of a mistyped one would find everything missing.
  if (!/^s3:/i.test(folder) && !existsSync(path.resolve(io.cwd, folder))) {
    throw new PackhouseError({
      code: 'OBJECT_STORE_INVALID',
      message: `There is no folder ${folder} to be audited.`,
      hint: 'Give OBJECT_STORE as the packers have it.',
    });
  }
  return openObjectStore(settings.OBJECT_STORE, { endpoint: settings.S3_ENDPOINT, context });
}

/** The networks file: NETWORKS_FILE, else that of a `packhouse local` in this data folder; none where there is neither. */
export async function findNetworks(io: CliIo, dataDir?: string): Promise<Network[]> {
  const local = path.resolve(io.cwd, dataDir ?? DATA_DIRECTORY, 'networks.json');
  const file = io.env.NETWORKS_FILE || (existsSync(local) ? local : undefined);
  return file === undefined ? [] : [...(await loadNetworks(file, io.env))];
}

/** How repairs reach a network's nodes; they are asked who they are before the first block. */
export function repairFrom(context: Context, networks: readonly Network[]): OpenRepair {
  return async (id) => {
    const network = networks.find((each) => each.id === id);
    if (network === undefined) {
      throw new PackhouseError({
        code: 'NETWORK_UNKNOWN',
        message: `No node of ${id} is known to repair it from.`,
        hint: 'Give NETWORKS_FILE, the networks file of the ingesters.',
      });
    }
    const source = createBlockSource({ network, context });
    try {
      await source.probe(fetchWish(network.bundles.kinds), context.signal);
      return { source, prover: await createProver(network.proofs), close: () => source.close() };
    } catch (error) {
      await source.close();
      throw error;
    }
  };
}
