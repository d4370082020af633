import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const manifest = fileURLToPath(new URL('../libraries/package.json', import.meta.url));
const load = createRequire(manifest);

/** For the name of a test that needs libraries which are not installed with the workspaces. */
export const UNLESS_INSTALLED = '(needs test/clients/libraries)';

/** Whether a library of `test/clients/libraries` is installed. */
export function isInstalled(name: string): boolean {
  return existsSync(fileURLToPath(new URL(`../libraries/node_modules/${name}`, import.meta.url)));
}

/** Loads a library of `test/clients/libraries`. `T` is what the test uses of it: its own types are there only with it. */
export function library<T>(name: string): T {
  return load(name) as T;
}
