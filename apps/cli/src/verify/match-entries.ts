import type { SealedEntry } from '@packhouse/manifest';
import { type BundleFile, kindOfFolders } from './find-inputs.js';

/**
 * The entries that may be a file's own, of all that have its range: those of the kind and the network that its folders
 * name, where they do. Several kinds may stay; the file's bytes tell which it is.
 */
export function entriesOfFile(file: BundleFile, entries: readonly SealedEntry[]): SealedEntry[] {
  const kind = kindOfFolders(file);
  const ofKind = kind === undefined ? [...entries] : entries.filter((entry) => entry.kind === kind);
  const network = file.folders.find((folder) => ofKind.some((entry) => entry.network === folder));
  return network === undefined ? ofKind : ofKind.filter((entry) => entry.network === network);
}
