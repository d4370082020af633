import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getExports, getImports, type Import } from './imports-of.js';

/** A source file of a workspace. */
export interface SourceFile {
  /** From the root, with slashes. */
  path: string;
  text: string;
  /** May use what tests may use. */
  isTest: boolean;
  imports: Import[];
  /** Names, re-exports included. */
  exports: string[];
}

/** A package.json with its sources. */
export interface Workspace {
  name: string;
  folder: string;
  dependencies: string[];
  /** What tests and pages, which are bundled, are built with. */
  devDependencies: string[];
  /** Folders of the tsconfig references, from the root. */
  references: string[];
  files: SourceFile[];
}

/** Everything that the rules look at. */
export interface Repository {
  workspaces: Workspace[];
  /** Names of the root's devDependencies: the tools that tests may use. */
  tools: string[];
  /** Folders that the root tsconfig builds. */
  built: string[];
}

/** The folder of the repository. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Reads a text file by its path from the root. */
export function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

const IGNORED = new Set(['node_modules', 'dist', '.git', '.packhouse', 'bench-results']);

/** All files under a folder, from the root, without what is installed, built or kept by git. */
export function filesUnder(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => !IGNORED.has(entry.name))
    .flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      return entry.isDirectory() ? filesUnder(path) : entry.isFile() ? [path] : [];
    });
}

/** The folders right under a folder. */
export function foldersIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !IGNORED.has(entry.name))
    .map((entry) => `${folder}/${entry.name}`);
}

/** Reads the whole repository. */
export function readRepository(): Repository {
  const root = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> };
  const folders = ['apps', 'packages', 'infra', 'test']
    .flatMap(foldersIn)
    .filter((folder) => filesUnder(folder).includes(`${folder}/package.json`));
  return {
    tools: Object.keys(root.devDependencies),
    built: referencesIn('tsconfig.json', ''),
    workspaces: folders.map(readWorkspace),
  };
}

function readWorkspace(folder: string): Workspace {
  const manifest = JSON.parse(read(`${folder}/package.json`)) as {
    name: string;
    dependencies?: Record<string, string>;
    optionalDependencies?: Record<string, string>;
    peerDependencies?: Record<string, string>;
    devDependencies?: Record<string, string>;
  };
  return {
    name: manifest.name,
    folder,
    dependencies: Object.keys({
      ...manifest.dependencies,
      ...manifest.optionalDependencies,
      // What may be there, and is used where it is, is declared as a peer.
      ...manifest.peerDependencies,
      // A workspace of tests runs nowhere else.
      ...(folder.startsWith('test/') ? manifest.devDependencies : {}),
    }),
    devDependencies: Object.keys(manifest.devDependencies ?? {}),
    references: referencesIn(`${folder}/tsconfig.json`, folder),
    files: filesUnder(folder)
      .filter((path) => /\.tsx?$/.test(path))
      .map((path) => sourceFile(path, read(path))),
  };
}

/** Tests, what stands in folders for them, and the whole of the end-to-end workspace. */
const TEST = /\.test\.tsx?$|\/testing\/|^(apps|packages|infra)\/[^/]+\/test\/|^test\/(browser|e2e)\//;

/** A source file from its path and text. */
export function sourceFile(path: string, text: string): SourceFile {
  return { path, text, isTest: TEST.test(path), imports: getImports(text), exports: getExports(text) };
}

/** The path from the root that a relative import leads to, one of `known` if it is; undefined for packages. */
export function importedPath(
  file: SourceFile,
  specifier: string,
  known: { has(path: string): boolean },
): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  const path = posix.join(posix.dirname(file.path), specifier);
  // AssemblyScript writes no extension.
  const source = posix.extname(path) === '' ? `${path}.ts` : path.replace(/\.js$/, '.ts');
  return known.has(`${source}x`) ? `${source}x` : source;
}

/** Whether a file is where a package is entered or a process starts. */
export function isDoor(path: string): boolean {
  return /^[^/]+\/[^/]+\/src\/(index|main)\.ts$/.test(path);
}

function referencesIn(path: string, folder: string): string[] {
  const { references = [] } = JSON.parse(read(path)) as { references?: { path: string }[] };
  return references.map((reference) => join(folder, reference.path).replaceAll('\\', '/'));
}
