import { existsSync } from 'node:fs';
import path from 'node:path';
import type { OpenRepair } from '@packhouse/audit';
import { createProver } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import { createBlockSource } from '@packhouse/node-rpc';
import { type ObjectStore, openObjectStore } from '@packhouse/object-store';
import { openSigners, type SignerSource, toFetchRequest } from '@packhouse/pipeline';
import { type Context, describeError, loadSettings, PackhouseError, storeSettings } from '@packhouse/runtime';
import { z } from 'zod';
import { DATA_DIRECTORY, signingKeyFile } from '../../installation/data-directory.js';
import type { CliIo } from '../../terminal/io.js';

/** OBJECT_STORE, else the objects of the `packhouse local` of this data folder. Throws OBJECT_STORE_INVALID. */
export async function openStore(io: CliIo, context: Context, dataDir?: string): Promise<ObjectStore> {
  const env = { ...io.env };
  const local = path.resolve(io.cwd, dataDir ?? DATA_DIRECTORY, 'objects');
  if (!env.OBJECT_STORE && existsSync(local)) env.OBJECT_STORE = local;
  const settings = loadSettings(z.object(storeSettings), env);
  const folder = settings.OBJECT_STORE.replace(/^disk:/i, '');
  // A store makes its folder if it is absent: an audit of a mistyped one would find everything missing.
  if (!/^s3:/i.test(folder) && !existsSync(path.resolve(io.cwd, folder))) {
    throw new PackhouseError({
      code: 'OBJECT_STORE_INVALID',
      message: `Folder ${folder} does not exist.`,
      hint: 'Set OBJECT_STORE to the value that the packers use.',
    });
  }
  const { S3_ENDPOINT: endpoint, S3_CHECKSUMS: checksums } = settings;
  return openObjectStore(settings.OBJECT_STORE, { endpoint, checksums, context });
}

/**
 * The key that signs the manifest if its file is here (SIGNING_KEY_FILE, else that of the `packhouse local` of this data
 * folder); undefined if not, or if it cannot be used, which is printed: a repair does not wait for its signature.
 */
export async function findSigners(
  io: CliIo,
  context: Context,
  { database, dataDir }: { database: Database; dataDir: string | undefined },
): Promise<SignerSource | undefined> {
  const file = signingKeyFile(io, dataDir);
  if (!existsSync(file)) return undefined;
  try {
    return await openSigners({ context, database, file });
  } catch (error) {
    io.stderr.write(`${describeError(error)}\n`);
    return undefined;
  }
}

/** Opens the upstreams of a network for repairs; they are probed before the first block. */
export function repairFrom(
  context: Context,
  networks: readonly Network[],
  signers: SignerSource | undefined,
): OpenRepair {
  return async (id) => {
    const network = networks.find((each) => each.id === id);
    if (network === undefined) {
      throw new PackhouseError({
        code: 'NETWORK_UNKNOWN',
        message: `${id} cannot be repaired: no upstream is known.`,
        hint: 'Set NETWORKS_FILE to the networks file of the ingesters.',
      });
    }
    const source = createBlockSource({ network, context });
    try {
      await source.probe(toFetchRequest(network.bundles.kinds), context.signal);
      const prover = await createProver(network.proofs);
      return { source, prover, signers, close: () => source.close() };
    } catch (error) {
      await source.close();
      throw error;
    }
  };
}
