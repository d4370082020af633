import type { Dirent } from 'node:fs';
import { opendir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { parseObjectKey } from '@packhouse/bundle';
import { isKind, type Kind } from '@packhouse/chain';
import type { SealedEntry } from '@packhouse/manifest';
import { usageError } from '../../terminal/parse.js';

/** A downloaded file. */
export interface BundleFile {
  path: string;
  firstBlock: number;
  lastBlock: number;
  /** From the name of a later version in an object store; absent: the newest is expected. */
  version?: number | undefined;
  /** The folders around it, innermost first: they may be named after kind and network. */
  folders: string[];
}

/** A downloaded data file of a table of the lake. */
export interface TableFile {
  path: string;
  /** Its last part. */
  name: string;
}

/** `<first block>-<last block>-<digits of its SHA-256>.parquet`: a pull names its files otherwise. */
const TABLE_FILE = /^\d+-\d+-[0-9a-f]{16}\.parquet$/;

/** The files at the given paths. */
export interface Inputs {
  bundles: BundleFile[];
  tables: TableFile[];
  /** Files that end like bundles but are not named like one. */
  misnamed: string[];
  /** Unreadable files that are named like bundles, and broken links, each as a sentence. */
  unreadable: { path: string; fault: string }[];
  manifests: string[];
  /** Signed heads of manifests. */
  heads: string[];
  keys: string[];
}

/**
 * Finds files, also in folders of any depth. `*.json.gz` are bundles, `<from>-<to>-<hash>.parquet` data files of the lake,
 * `*.jsonl` and `*.ndjson` manifests,
 * those with `manifest-head` in their names signed heads, `*manifest-keys*.json` and `*.pem` keys. Links are followed.
 * Throws USAGE if a path does not exist.
 */
export async function findInputs(paths: readonly string[], cwd: string): Promise<Inputs> {
  const inputs: Inputs = {
    bundles: [],
    tables: [],
    misnamed: [],
    unreadable: [],
    manifests: [],
    heads: [],
    keys: [],
  };
  for (const given of paths) {
    const full = path.resolve(cwd, given);
    const found = await stat(full).catch(() => null);
    if (found === null) {
      throw usageError(`${given} does not exist.`, 'Give downloaded files, or their folder.');
    }
    if (found.isDirectory()) await walk(given, full, inputs, []);
    else add(given, full, inputs, true);
  }
  inputs.tables.sort(
    (a, b) => Number.parseInt(a.name, 10) - Number.parseInt(b.name, 10) || (a.path < b.path ? -1 : 1),
  );
  inputs.bundles.sort((a, b) => a.firstBlock - b.firstBlock || (a.path < b.path ? -1 : 1));
  return inputs;
}

/** `around` are the real folders that are being walked: a link to one of them leads to nothing new. */
async function walk(shown: string, full: string, inputs: Inputs, around: readonly string[]): Promise<void> {
  const real = await realpath(full);
  if (around.includes(real)) return;
  for await (const entry of await opendir(full)) {
    const at = [path.join(shown, entry.name), path.join(full, entry.name)] as const;
    // Follows links, also out of the folder.
    const found = await stat(at[1]).catch((error: NodeJS.ErrnoException) => error);
    if (found instanceof Error) {
      if (entry.isSymbolicLink() || isBundleName(entry.name)) addUnreadable(at[0], entry, found, inputs);
    } else if (found.isDirectory()) await walk(...at, inputs, [...around, real]);
    else if (found.isFile()) add(...at, inputs, false);
    else if (isBundleName(entry.name)) {
      inputs.unreadable.push({ path: at[0], fault: `${at[0]} is not a file and cannot be verified.` });
    }
  }
}

function addUnreadable(
  shown: string,
  entry: Dirent,
  { code }: NodeJS.ErrnoException,
  { unreadable }: Inputs,
): void {
  const what = !entry.isSymbolicLink()
    ? 'cannot be read'
    : code === 'ENOENT'
      ? 'is a link to a missing file'
      : 'is a link that cannot be followed';
  unreadable.push({ path: shown, fault: `${shown} ${what} (${code}).` });
}

function isBundleName(name: string): boolean {
  return name.endsWith('.json.gz');
}

function add(shown: string, full: string, inputs: Inputs, named: boolean): void {
  const name = path.basename(full);
  if (/manifest-head.*\.(jsonl|ndjson)$/.test(name)) inputs.heads.push(shown);
  else if (/\.(jsonl|ndjson)$/.test(name)) inputs.manifests.push(shown);
  else if (/manifest-keys.*\.json$/.test(name) || /(?<!signing-key)\.pem$/.test(name))
    inputs.keys.push(shown);
  else if (TABLE_FILE.test(name)) inputs.tables.push({ path: shown, name });
  else if (named || isBundleName(name)) addBundle(shown, full, inputs);
}

function addBundle(shown: string, full: string, inputs: Inputs): void {
  try {
    const { firstBlock, lastBlock, version } = parseObjectKey(`x/blocks/${path.basename(full)}`);
    const folders = path.dirname(full).split(path.sep).reverse();
    inputs.bundles.push({ path: shown, firstBlock, lastBlock, version, folders });
  } catch {
    inputs.misnamed.push(shown);
  }
}

/** The kind that the innermost folder is named after. */
export function kindOfFolders({ folders }: BundleFile): Kind | undefined {
  return folders.find(isKind);
}

/**
 * The entries that may describe a file, of all that have its range: those of the kind and network that its folders
 * name, if they do. Entries of several kinds may remain; the bytes of the file decide.
 */
export function entriesOfFile(file: BundleFile, entries: readonly SealedEntry[]): SealedEntry[] {
  const kind = kindOfFolders(file);
  const ofKind = kind === undefined ? [...entries] : entries.filter((entry) => entry.kind === kind);
  const network = file.folders.find((folder) => ofKind.some((entry) => entry.network === folder));
  return network === undefined ? ofKind : ofKind.filter((entry) => entry.network === network);
}
