import { randomBytes } from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Database, SigningKeyRow } from '@packhouse/database';
import { createSigner, keyIdOf, makeSigningKey, readSigningKey, type Signer } from '@packhouse/manifest';
import { type Context, PackhouseError } from '@packhouse/runtime';
import type { SignerSource } from './signer-source.js';

/** What entries name as their producer. */
export const PRODUCER = 'packhouse/0.1.0';

export interface SignerParts {
  context: Pick<Context, 'logger'>;
  database: Database;
  /** Path of the private key's PEM file. */
  file: string;
}

/**
 * Opens the key that the manifest is signed with.
 *
 * A database without a key gets the one in the file, which is made where there is none. Throws SIGNING_KEY_MISSING
 * (the database has a key and the file is absent), SIGNING_KEY_CHANGED (the file holds another key),
 * SIGNING_KEY_INVALID, DISK_FULL, DATA_DIR_UNUSABLE.
 */
export async function openSigners(parts: SignerParts): Promise<SignerSource> {
  let signer = await openSigner(parts);
  return {
    current: () => signer,
    renew: async () => {
      signer = await openSigner(parts);
      return signer;
    },
  };
}

async function openSigner({ context, database, file }: SignerParts): Promise<Signer> {
  const current = currentKey(await database.manifest.keys());
  const found = await readKeyFile(file);
  if (found !== null) return checked(found, current ?? (await register(database, found)), file);
  if (current !== null) throw missing(current.keyId, file);

  await makeKeyFile(file);
  // Whoever else starts on this file at the same time may have made it.
  const signer = (await readKeyFile(file)) as Signer;
  const registered = await register(database, signer);
  if (registered.keyId !== signer.keyId) {
    // Somebody else was first, with another file: this one's key signs nothing, ever.
    await rm(file, { force: true });
    throw missing(registered.keyId, file);
  }
  context.logger.info(
    { keyId: signer.keyId, file: path.resolve(file) },
    'made the key that the manifest is signed with: keep a copy of its file, and give it to every packer',
  );
  return signer;
}

/** The signer of a key file; null where there is no such file. Throws SIGNING_KEY_INVALID, DATA_DIR_UNUSABLE. */
export async function readKeyFile(file: string): Promise<Signer | null> {
  let pem: string;
  try {
    pem = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw unusable(error, file);
  }
  return createSigner(readSigningKey(pem, path.resolve(file)), PRODUCER);
}

/** Makes a key file that its owner alone may read; one that is there stays. The file is whole or not there. */
export async function makeKeyFile(file: string): Promise<void> {
  const unfinished = `${file}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    const handle = await open(unfinished, 'w', 0o600);
    try {
      await handle.writeFile(makeSigningKey());
      await handle.sync();
    } finally {
      await handle.close();
    }
    await link(unfinished, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unusable(error, file);
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** The key in use; null where none was ever registered. */
export function currentKey(rows: readonly SigningKeyRow[]): SigningKeyRow | null {
  return rows.find((row) => row.retiredAt === null) ?? null;
}

function register(database: Database, signer: Signer): Promise<SigningKeyRow> {
  return database.manifest.registerKey(signer.publicKey);
}

function checked(signer: Signer, current: SigningKeyRow, file: string): Signer {
  if (keyIdOf(current.publicKey) === signer.keyId) return signer;
  throw new PackhouseError({
    code: 'SIGNING_KEY_CHANGED',
    message: `The signing key in ${path.resolve(file)} is ${signer.keyId}, but the manifest is signed with key ${current.keyId}.`,
    hint: 'Put the file of that key back; to go on with the one that is here, run `packhouse manifest rotate`: entries already signed stay valid.',
    data: { got: signer.keyId, expected: current.keyId },
  });
}

function missing(keyId: string, file: string): PackhouseError {
  return new PackhouseError({
    code: 'SIGNING_KEY_MISSING',
    message: `The manifest is signed with key ${keyId}, and there is no signing key in ${path.resolve(file)}.`,
    hint: 'Copy the file of that key there, or name its place in SIGNING_KEY_FILE; where it is lost, run `packhouse manifest rotate`, which makes a new one: entries already signed stay valid.',
    data: { expected: keyId },
  });
}

function unusable(error: unknown, file: string): PackhouseError {
  const { code, message } = error as NodeJS.ErrnoException;
  const full = code === 'ENOSPC';
  return new PackhouseError({
    code: full ? 'DISK_FULL' : 'DATA_DIR_UNUSABLE',
    message: full
      ? `No space is left for the signing key file ${path.resolve(file)}.`
      : `The signing key file ${path.resolve(file)} cannot be used: ${message}.`,
    hint: 'Name another place in SIGNING_KEY_FILE, or make this one readable and writable.',
    cause: error,
  });
}
