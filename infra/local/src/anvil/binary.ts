import { access, chmod, constants } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { PackhouseError } from '@packhouse/runtime';

/** Node's names of machines, as the platform packages of Anvil spell them. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/**
 * Path of the Anvil binary in the package for this machine. `node_modules/.bin/anvil` is a wrapper that needs install
 * scripts to have run, and its pid is not that of the node. Throws CHILD_FAILED if the package is not installed.
 */
export async function anvilBinary(): Promise<string> {
  const machine = `${process.platform}-${ARCHITECTURES[process.arch] ?? process.arch}`;
  const name = `@foundry-rs/anvil-${machine}`;
  const manifest = resolveManifest(name);
  if (manifest === undefined) {
    throw new PackhouseError({
      code: 'CHILD_FAILED',
      message: `Anvil cannot start: its package for this machine, ${name}, is not installed.`,
      hint: 'Run npm install without --omit=optional, or give a node of your own with --rpc.',
      data: { package: name },
    });
  }
  const binary = path.join(
    path.dirname(manifest),
    'bin',
    process.platform === 'win32' ? 'anvil.exe' : 'anvil',
  );
  await ensureExecutable(binary);
  return binary;
}

function resolveManifest(name: string): string | undefined {
  const here = createRequire(import.meta.url);
  // Usually hoisted beside us, else nested under the package that depends on it.
  for (const from of [() => here, () => createRequire(here.resolve('@foundry-rs/anvil/package.json'))]) {
    try {
      return from().resolve(`${name}/package.json`);
    } catch {
      // the next place
    }
  }
  return undefined;
}

async function ensureExecutable(binary: string): Promise<void> {
  try {
    await access(binary, constants.X_OK);
  } catch {
    try {
      await chmod(binary, 0o755);
    } catch (cause) {
      throw new PackhouseError({
        code: 'CHILD_FAILED',
        message: `Anvil cannot start: ${binary} is not an executable file.`,
        hint: 'Remove node_modules and run npm install again.',
        cause,
      });
    }
  }
}
