import { randomBytes } from 'node:crypto';
import { link, open, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Kind } from '@packhouse/chain';
import type { Database, SigningKeyRow } from '@packhouse/database';
import { createSigner, getKeyId, makeSigningKey, readSigningKey, type Signer } from '@packhouse/manifest';
import { type Context, isPackhouseError, PackhouseError } from '@packhouse/runtime';

/** The version of these programs, as manifest entries and deploys name it. */
export const VERSION = '0.1.0';

/** The producer that entries name. */
const PRODUCER = `packhouse/${VERSION}`;

interface SignerParts {
  context: Pick<Context, 'logger'>;
  database: Database;
  /** Path of the private key's PEM file. */
  file: string;
}

/** The signer of the manifest's current key. */
export interface SignerSource {
  current(): Signer;
  /** Reads the key's file again: the key may have been rotated. Throws SIGNING_KEY_MISSING, SIGNING_KEY_CHANGED. */
  renew(): Promise<Signer>;
}

/**
 * Opens the key that the manifest is signed with.
 *
 * A database without a key gets the one in the file; a missing file is created. Throws SIGNING_KEY_MISSING
 * (the database has a key and the file is absent), SIGNING_KEY_CHANGED (the file holds another key),
 * SIGNING_KEY_INVALID, DISK_FULL, DATA_DIR_UNUSABLE.
 */
export async function openSigners(parts: SignerParts): Promise<SignerSource> {
  let signer = await openSigner(parts);
  const warning = await keyFileWarning(parts.file);
  if (warning !== null) parts.context.logger.warn(warning);
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
  // Another process that starts on this file at the same time may have made it.
  const signer = (await readKeyFile(file)) as Signer;
  const registered = await register(database, signer);
  if (registered.keyId !== signer.keyId) {
    // Another process was first, with another file: this one's key never signs anything.
    await rm(file, { force: true });
    throw missing(registered.keyId, file);
  }
  context.logger.info(
    { keyId: signer.keyId, file: path.resolve(file) },
    'made the key that the manifest is signed with: keep a copy of its file, and give it to every packer',
  );
  return signer;
}

/** Permissions of everybody but the owner. */
const OTHERS = 0o077;
/** How orchestrators mount a secret for a process that is not root: of root, and its group may read it. */
const MOUNTED = 0o440;

/**
 * What is wrong with the permissions of a private key's file, as a sentence: who can read it can sign in its name. Null
 * if only its owner may use it, if it is mounted as a secret of a container, if it is not there, and on Windows, which
 * does not tell.
 */
export async function keyFileWarning(file: string): Promise<string | null> {
  const found = await stat(file).catch(() => null);
  if (found === null || process.platform === 'win32' || (found.mode & OTHERS) === 0) return null;
  if (found.uid === 0 && (found.mode & 0o777) === MOUNTED) return null;
  const full = path.resolve(file);
  const mode = (found.mode & 0o777).toString(8).padStart(4, '0');
  return `The signing key file ${full} has the permissions ${mode}: others than its owner can use it, and so sign what they like. Run \`chmod 600 ${full}\`.`;
}

/** Runs `work` with the signer, and once more with the renewed one if the key was rotated since it was read. */
export async function withSigner<T>(
  source: SignerSource | undefined,
  work: (signer: Signer | undefined) => Promise<T>,
): Promise<T> {
  try {
    return await work(source?.current());
  } catch (error) {
    if (source === undefined || !isPackhouseError(error, 'SIGNING_KEY_CHANGED')) throw error;
    return work(await source.renew());
  }
}

/** Entries of a transaction: some 0.1 s under the kind's lock. */
const AT_ONCE = 500;

/** Appends the entries of bundles that were published without the signing key. */
export async function sealPending(
  parts: { context: Context; database: Database; signers: SignerSource; network: string },
  kind: Kind,
  signal: AbortSignal,
): Promise<number> {
  const { context, database, signers, network } = parts;
  let sealed = 0;
  for (let more = -1; more !== 0; ) {
    signal.throwIfAborted();
    more = await withSigner(signers, (signer) =>
      signer === undefined
        ? Promise.resolve(0)
        : database.network(network).manifest.sealPending(kind, signer, AT_ONCE),
    );
    sealed += more;
  }
  if (sealed > 0) {
    context.logger.info({ network, kind, entries: sealed }, 'manifest entries of earlier bundles appended');
  }
  return sealed;
}

interface Rotation {
  /** The key that signs entries from now on. */
  keyId: string;
  /** The key that was retired; null if there was none. */
  retired: string | null;
  /** The new path of the retired key's file; null if there was none. */
  movedTo: string | null;
}

/**
 * Replaces the key that signs the manifest by the one in the file if that is new, else by a generated one. Existing
 * signatures stay valid. If it is interrupted, running it again completes it.
 *
 * Throws SIGNING_KEY_INVALID, SIGNING_KEY_CHANGED (the file holds a key that was retired before), DISK_FULL,
 * DATA_DIR_UNUSABLE.
 */
export async function rotateSigningKey({
  database,
  file,
}: Pick<SignerParts, 'database' | 'file'>): Promise<Rotation> {
  const before = currentKey(await database.manifest.keys());
  let signer = await readKeyFile(file);
  let movedTo: string | null = null;
  if (signer !== null && signer.keyId === before?.keyId) {
    movedTo = `${file}.${signer.keyId}.retired`;
    await rename(file, movedTo);
    signer = null;
  }
  if (signer === null) {
    await makeKeyFile(file);
    signer = await readKeyFile(file);
  }
  if (signer === null) throw new Error(`${file} was removed while the key was rotated`);
  const { keyId } = await database.manifest.rotateKey(signer.publicKey);
  return { keyId, retired: before?.keyId ?? null, movedTo };
}

/** The signer of a key file; null if there is no such file. Throws SIGNING_KEY_INVALID, DATA_DIR_UNUSABLE. */
async function readKeyFile(file: string): Promise<Signer | null> {
  let pem: string;
  try {
    pem = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw unusable(error, file);
  }
  return createSigner(readSigningKey(pem, path.resolve(file)), PRODUCER);
}

/** Makes a key file that only its owner may read; an existing one stays. The file is whole or absent. */
async function makeKeyFile(file: string): Promise<void> {
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

/** The key in use; null if none was ever registered. */
function currentKey(rows: readonly SigningKeyRow[]): SigningKeyRow | null {
  return rows.find((row) => row.retiredAt === null) ?? null;
}

function register(database: Database, signer: Signer): Promise<SigningKeyRow> {
  return database.manifest.registerKey(signer.publicKey);
}

function checked(signer: Signer, current: SigningKeyRow, file: string): Signer {
  if (getKeyId(current.publicKey) === signer.keyId) return signer;
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
    hint: 'Copy the file of that key there, or name its place in SIGNING_KEY_FILE; if it is lost, run `packhouse manifest rotate`, which makes a new one: entries already signed stay valid.',
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
