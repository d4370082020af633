import { expect, it } from 'vitest';
import { read } from './repository.js';

interface Entry {
  version?: string;
  resolved?: string;
  integrity?: string;
  link?: boolean;
  optional?: boolean;
  devOptional?: boolean;
}

/**
 * Native programs for other systems than the one that the lock file is written on: npm writes down the hashes of what
 * it downloads, and it downloads none of these. Their hashes are still to be added, each with
 * `npm view <name>@<version> dist.integrity` from a registry that has them.
 */
const WITHOUT_HASH = [
  ...['android-arm64', 'android-x64', 'darwin-arm64', 'darwin-x64', 'linux-arm64-musl', 'linux-x64-musl'].map(
    (system) => `@biomejs/cli-${system}@2.6.8`,
  ),
  ...['win32-arm64', 'win32-x64'].map((system) => `@biomejs/cli-${system}@2.6.8`),
  ...['darwin-amd64', 'darwin-arm64', 'linux-arm64', 'win32-amd64'].map(
    (system) => `@foundry-rs/anvil-${system}@1.7.1`,
  ),
  ...['darwin-arm64', 'darwin-x64', 'linux-arm', 'win32-x64'].map(
    (system) => `@msgpackr-extract/msgpackr-extract-${system}@3.0.7`,
  ),
];

const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Entry> };
const FOLDER = 'node_modules/';
const downloaded = Object.entries(packages)
  .filter(([path, { link }]) => path.includes(FOLDER) && link !== true)
  .map(([path, entry]) => ({
    name: `${path.slice(path.lastIndexOf(FOLDER) + FOLDER.length)}@${entry.version}`,
    entry,
  }));

it('the lock file has the SHA-512 of all that npm downloads, but for what is named here', () => {
  expect(downloaded.length).toBeGreaterThan(100);
  const without = downloaded.filter(
    ({ entry }) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(entry.integrity ?? ''),
  );
  expect(without.map(({ name }) => name).sort()).toEqual([...WITHOUT_HASH].sort());
});

it('what has no hash is optional: it is never downloaded on the systems that the lock file is written on', () => {
  const needed = downloaded.filter(
    ({ name, entry }) => WITHOUT_HASH.includes(name) && entry.optional !== true && entry.devOptional !== true,
  );
  expect(needed).toEqual([]);
});

it('names no address to download from: npm asks the registry that it is set to', () => {
  expect(downloaded.filter(({ entry }) => entry.resolved !== undefined)).toEqual([]);
});
