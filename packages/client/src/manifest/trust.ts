import type { KeyObject } from 'node:crypto';
import path from 'node:path';
import { readPublicKeys } from '@packhouse/manifest';
import { PackhouseError, readIfThere, writeWhole } from '@packhouse/runtime';
import type { Gateway } from '../fetch/http.js';

/** The public keys of a folder; `packhouse verify` finds them by this name. */
export const KEYS_FILE = '_packhouse-manifest-keys.json';
const MAX_KEYS_BYTES = 1_048_576;

export interface Trust {
  keys: ReadonlyMap<string, KeyObject>;
  /** The keys that this run trusts for the first time, and why; null: all were trusted before. */
  isNew: { keyIds: string[]; from: string } | null;
}

/**
 * The public keys to check a manifest with: those of `trustKeyFile` and no others if it is given, else those that the
 * folder keeps (null: there is none), else the gateway's, which are kept from then on. A key that the gateway signs with later is trusted by
 * `trustKeyFile` only: who could replace the files could announce it too. Throws MANIFEST_INVALID, DOWNLOAD_FAILED,
 * USAGE, and FOLDER_MISMATCH if the folder trusts a key that `trustKeyFile` does not have.
 */
export async function trustedKeys(
  folder: string | null,
  { address, http, trustKeyFile }: Gateway & { trustKeyFile?: string | undefined },
  signal?: AbortSignal,
): Promise<Trust> {
  const file = folder === null ? null : path.join(folder, KEYS_FILE);
  const kept = file === null ? null : await readIfThere(file);
  const before = kept === null ? new Map<string, KeyObject>() : readPublicKeys(kept, file ?? KEYS_FILE);
  if (trustKeyFile === undefined && before.size > 0) return { keys: before, isNew: null };
  const from = trustKeyFile ?? address.keys;
  const keys = readPublicKeys(
    trustKeyFile === undefined
      ? await http.text(address.keys, MAX_KEYS_BYTES, { signal })
      : await readKeyFile(trustKeyFile),
    from,
  );
  const lost = [...before.keys()].find((id) => !keys.has(id));
  if (lost !== undefined) {
    throw new PackhouseError({
      code: 'FOLDER_MISMATCH',
      message: `The folder ${folder} trusts the key ${lost}, and ${from} does not have it.`,
      hint: 'Add that key to the file, or pull into another folder.',
    });
  }
  const keyIds = [...keys.keys()].filter((id) => !before.has(id));
  if (keyIds.length === 0) return { keys, isNew: null };
  if (file !== null) await writeWhole(file, toDocument(keys));
  return { keys, isNew: { keyIds, from } };
}

async function readKeyFile(file: string): Promise<string> {
  const text = await readIfThere(file);
  if (text !== null) return text;
  throw new PackhouseError({
    code: 'USAGE',
    message: `There is no file ${file} with public keys.`,
    hint: 'Give the JSON of /.well-known/packhouse-manifest-keys.json of the publisher.',
  });
}

function toDocument(keys: ReadonlyMap<string, KeyObject>): string {
  const rows = [...keys].map(([keyId, key]) => ({
    keyId,
    publicKey: Buffer.from(key.export({ format: 'jwk' }).x as string, 'base64url').toString('base64'),
  }));
  return `${JSON.stringify({ keys: rows })}\n`;
}
