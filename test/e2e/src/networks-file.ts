import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Workspace } from './workspace.js';

/** Writes a networks file with the network `main` on this node, which cuts bundles of `maxBlocks`; returns its path. */
export async function writeNetworksFile(
  workspace: Workspace,
  url: string,
  maxBlocks: number,
): Promise<string> {
  const file = path.join(workspace.directory, 'networks.yaml');
  await writeFile(
    file,
    `networks:
  - id: main
    family: evm
    chainId: 1
    upstreams:
      - url: ${url}
    pollIntervalMs: 200
    bundles:
      maxBlocks: ${maxBlocks}
`,
  );
  return file;
}
