import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PackhouseError } from '@packhouse/runtime';

/** The version of this program, and of all its packages. */
export const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string };

/** A package of Packhouse that is installed by choice: what a download needs is always there. */
export type OptionalPackage =
  | 'console'
  | 'database'
  | 'gateway'
  | 'ingester'
  | 'local'
  | 'networks'
  | 'node-rpc'
  | 'operations'
  | 'packer'
  | 'pipeline';

/** These have a program, and no index. */
const PROGRAMS: readonly OptionalPackage[] = ['console', 'gateway', 'ingester', 'packer'];

/** Those of the packages that are not installed beside this one. */
export function missingPackages(names: readonly OptionalPackage[]): OptionalPackage[] {
  return names.filter((name) => {
    try {
      import.meta.resolve(`@packhouse/${name}${PROGRAMS.includes(name) ? '/main' : ''}`);
      return false;
    } catch {
      return true;
    }
  });
}

/** Throws PACKAGE_MISSING unless all of the packages are installed; `what` needs them. */
export function requirePackages(what: string, names: readonly OptionalPackage[]): void {
  const missing = missingPackages(names).map((name) => `@packhouse/${name}`);
  if (missing.length === 0) return;
  throw new PackhouseError({
    code: 'PACKAGE_MISSING',
    message: `${what} needs ${missing.join(', ')}, not installed here.`,
    hint: `Run: npm install ${isGlobal() ? '--global ' : ''}${missing.map((name) => `${name}@${version}`).join(' ')}`,
    data: { missing },
  });
}

/** Whether `npm install --global` put this program where it is. */
function isGlobal(): boolean {
  return fileURLToPath(import.meta.url).includes('/lib/node_modules/@packhouse/');
}
