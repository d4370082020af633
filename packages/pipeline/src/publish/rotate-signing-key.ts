import { rename } from 'node:fs/promises';
import { currentKey, makeKeyFile, readKeyFile, type SignerParts } from './sign.js';

/** What a rotation did. */
export interface Rotation {
  /** The key that entries are signed with from now on. */
  keyId: string;
  /** The key that was retired; null where there was none. */
  retired: string | null;
  /** Where the retired key's file was moved; null where it was not there. */
  movedTo: string | null;
}

/**
 * Retires the key that the manifest is signed with and goes on with another: the one in the file, where that is a
 * new one, else one that is made. What was signed stays valid. Cut off at any point, it is done by running it again.
 *
 * Throws SIGNING_KEY_INVALID, SIGNING_KEY_CHANGED (the file holds a key that was retired before), DISK_FULL,
 * DATA_DIR_UNUSABLE.
 */
export async function rotateSigningKey({ database, file }: Omit<SignerParts, 'context'>): Promise<Rotation> {
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
