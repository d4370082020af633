import { stat } from 'node:fs/promises';
import path from 'node:path';

/** Permissions of everybody but the owner. */
const OTHERS = 0o077;

/**
 * What is wrong with the permissions of a private key's file, as a sentence: who can read it can sign in its name. Null
 * if only its owner may use it, if it is not there, and on Windows, which does not tell.
 */
export async function keyFileWarning(file: string): Promise<string | null> {
  const found = await stat(file).catch(() => null);
  if (found === null || process.platform === 'win32' || (found.mode & OTHERS) === 0) return null;
  const full = path.resolve(file);
  const mode = (found.mode & 0o777).toString(8).padStart(4, '0');
  return `The signing key file ${full} has the permissions ${mode}: others than its owner can use it, and so sign what they like. Run \`chmod 600 ${full}\`.`;
}
