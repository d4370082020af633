import { readFile } from 'node:fs/promises';
import { PackhouseError } from '@packhouse/runtime';
import type { Network } from './network.js';
import { parseNetworks } from './parse-networks.js';

/** Reads a networks file, YAML or JSON. Throws NETWORKS_FILE_INVALID when it is missing, unreadable or malformed. */
export async function loadNetworks(
  path: string,
  env: Record<string, string | undefined>,
): Promise<Network[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === 'ENOENT'
        ? 'there is no such file'
        : code === 'EISDIR'
          ? 'it is a folder'
          : `reading it failed (${code})`;
    throw new PackhouseError({
      code: 'NETWORKS_FILE_INVALID',
      message: `The networks file ${path} cannot be used: ${why}.`,
      hint: 'Set NETWORKS_FILE to a file like networks.example.yaml.',
      data: { source: path },
      cause: error,
    });
  }
  return parseNetworks(text, { source: path, env });
}
