import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of real chain data beside the project (`../shared/chain-data` from its root), or null if it is absent. */
export function chainDataDirectory(): string | null {
  // This file is three levels below the project's root, as a source and as built.
  const directory = fileURLToPath(new URL('../../../../shared/chain-data', import.meta.url));
  return existsSync(directory) ? directory : null;
}
