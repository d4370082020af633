import { expect, it } from 'vitest';
import { filesUnder, foldersIn, read } from './repository.js';

interface Manifest {
  name: string;
  version: string;
  private?: boolean;
  license?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  publishConfig?: { access?: string };
}

const root = JSON.parse(read('package.json')) as Manifest;
const manifests = ['apps', 'packages', 'infra', 'test']
  .flatMap(foldersIn)
  .filter((folder) => filesUnder(folder).includes(`${folder}/package.json`))
  .map((folder) => ({ folder, manifest: JSON.parse(read(`${folder}/package.json`)) as Manifest }));

it('every package has the version of the project, and asks for it of the others', () => {
  expect(manifests.length).toBeGreaterThan(20);
  for (const { folder, manifest } of manifests) {
    expect(manifest.version, folder).toBe(root.version);
    const asked = Object.entries({
      ...manifest.dependencies,
      ...manifest.devDependencies,
      ...manifest.peerDependencies,
    });
    const others = asked.filter(
      ([name, version]) => name.startsWith('@packhouse/') && version !== root.version,
    );
    expect(others, folder).toEqual([]);
  }
});

it('what programs say of their version is that version', () => {
  const said = ['apps', 'packages']
    .flatMap(filesUnder)
    .filter((path) => /\/src\/.*\.ts$/.test(path) && !/\.test\.ts$|\/testing\//.test(path))
    .flatMap((path) => [...read(path).matchAll(/\bpackhouse(?:-client)?\/(\d+\.\d+\.\d+)/g)])
    .map(([, version]) => version);
  expect(said.length).toBeGreaterThan(0);
  expect(new Set(said)).toEqual(new Set([root.version]));
});

it('the product is published, and neither the repository nor its tests are', () => {
  expect(root.private).toBe(true);
  for (const { folder, manifest } of manifests) {
    const published = !folder.startsWith('test/');
    expect(manifest.private === true, folder).toBe(!published);
    if (published)
      expect(manifest, folder).toMatchObject({ license: 'Apache-2.0', publishConfig: { access: 'public' } });
  }
});
