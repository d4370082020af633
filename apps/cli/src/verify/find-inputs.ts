import { opendir, stat } from 'node:fs/promises';
import path from 'node:path';
import { parseObjectKey } from '@packhouse/bundle';
import { isKind, type Kind } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';

/** A downloaded file. */
export interface BundleFile {
  path: string;
  start: number;
  end: number;
  /** Named by the name of a later version, as object stores keep it; absent: the newest is expected. */
  version?: number;
  /** The folders it is in, from the inside out: they tell kind and network where they are named so. */
  folders: string[];
}

/** What lies at the paths given. */
export interface Inputs {
  bundles: BundleFile[];
  /** Files that end like bundles and are not named like one. */
  misnamed: string[];
  manifests: string[];
  keys: string[];
}

/**
 * Looks at files and folders, folders in any depth. `*.json.gz` are bundles, `*.jsonl` and `*.ndjson` manifests,
 * `*manifest-keys*.json` and `*.pem` keys. Throws USAGE where a path does not exist.
 */
export async function findInputs(paths: readonly string[], cwd: string): Promise<Inputs> {
  const inputs: Inputs = { bundles: [], misnamed: [], manifests: [], keys: [] };
  for (const given of paths) {
    const full = path.resolve(cwd, given);
    const found = await stat(full).catch(() => null);
    if (found === null) {
      throw new PackhouseError({
        code: 'USAGE',
        message: `There is no file or folder ${given}.`,
        hint: 'Give the files that you downloaded, or the folder that they are in.',
      });
    }
    if (found.isDirectory()) await walk(given, full, inputs);
    else add(given, full, inputs, true);
  }
  inputs.bundles.sort((a, b) => a.start - b.start || a.path.localeCompare(b.path));
  return inputs;
}

async function walk(shown: string, full: string, inputs: Inputs): Promise<void> {
  for await (const entry of await opendir(full)) {
    const at = [path.join(shown, entry.name), path.join(full, entry.name)] as const;
    if (entry.isDirectory()) await walk(...at, inputs);
    else if (entry.isFile()) add(...at, inputs, false);
  }
}

function add(shown: string, full: string, inputs: Inputs, named: boolean): void {
  const name = path.basename(full);
  if (/\.(jsonl|ndjson)$/.test(name)) inputs.manifests.push(shown);
  else if (/manifest-keys.*\.json$/.test(name) || /(?<!signing-key)\.pem$/.test(name))
    inputs.keys.push(shown);
  else if (named || name.endsWith('.json.gz')) addBundle(shown, full, inputs);
}

function addBundle(shown: string, full: string, inputs: Inputs): void {
  try {
    const { start, end, version } = parseObjectKey(`x/blocks/${path.basename(full)}`);
    const folders = path.dirname(full).split(path.sep).reverse();
    inputs.bundles.push({ path: shown, start, end, folders, ...(version === undefined ? {} : { version }) });
  } catch {
    inputs.misnamed.push(shown);
  }
}

/** The kind that a file's folders tell: the innermost that is named as one. */
export function kindOfFolders({ folders }: BundleFile): Kind | undefined {
  return folders.find(isKind);
}
