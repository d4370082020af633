import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CAPABILITIES, checkCapabilities } from './capabilities.js';
import { checkFileCircles, checkFolderCircles } from './check-circles.js';
import {
  checkArchitecture,
  checkCodes,
  checkDependencies,
  checkInvariants,
  checkNpx,
  checkPasting,
  checkPlaces,
  checkVariables,
  listTestsOfStrangers,
} from './check-documents.js';
import { checkFolders, checkFunctions, checkSpreads } from './check-functions.js';
import { checkImports } from './check-imports.js';
import { checkBullets, checkLength, checkLinks } from './check-markdown.js';
import { checkPaths } from './check-paths.js';
import { checkReferences } from './check-references.js';
import { checkShape } from './check-shape.js';
import { checkExports, checkForTestsOnly, checkShortFiles } from './check-uses.js';
import { filesUnder, foldersIn, ROOT, read, readRepository } from './repository.js';
import {
  FUNCTION_LINES,
  LONG_FILES,
  MAX_DOCUMENT_WORDS,
  MAX_FOLDER_FILES,
  MAX_LINES,
  MAY_IMPORT,
  SHORT_FILES,
} from './rules.js';

const repository = readRepository();
/** All sources, pages and scripts too. */
const sourceTexts = ['apps', 'packages', 'infra', 'test']
  .flatMap(filesUnder)
  .filter((path) => /\.(tsx?|mjs)$/.test(path))
  .map((path) => ({ path, text: read(path) }));
const product = sourceTexts.filter(
  ({ path }) =>
    /^(apps|packages)\//.test(path) && !/\.test\.tsx?$|\/testing\/|^\w+\/[^/]+\/test\//.test(path),
);
const documents = filesUnder('')
  .filter((path) => path.endsWith('.md'))
  .map((path) => ({ path, text: read(path) }));
const sources = repository.workspaces.flatMap((workspace) => workspace.files);

describe('this repository', () => {
  it('has workspaces to look at, and a rule for each', () => {
    const rooms = repository.workspaces.map((workspace) => workspace.name.replace('@packhouse/', ''));
    expect(rooms.sort()).toEqual(Object.keys(MAY_IMPORT).sort());
    expect(sources.length).toBeGreaterThan(100);
  });

  it('imports one way, through doors, and only what is declared', () => {
    expect(checkImports(repository)).toEqual([]);
  });

  it('has no circles of files', () => {
    expect(
      checkFileCircles(repository),
      'Move what both files need (often a type) into the one that is imported, or into a file below both.',
    ).toEqual([]);
  });

  it('has no circles of folders', () => {
    expect(
      checkFolderCircles(repository),
      'Turn the arrow around: move the imported file below both folders, or the importing one above them.',
    ).toEqual([]);
  });

  it('exports only what somebody imports', () => {
    expect(
      checkExports(repository),
      'Take `export` away, or the name out of the index. What only tests need: test it through what the file ' +
        'exports anyway, move it into a folder testing/, or list it in FOR_TESTS_ONLY in rules.ts.',
    ).toEqual([]);
    expect(checkForTestsOnly(repository)).toEqual([]);
  });

  it('has no files that are too short to be opened', () => {
    expect(
      checkShortFiles(repository),
      'Move what the file holds into its only importer, or list it with a reason in SHORT_FILES in rules.ts.',
    ).toEqual([]);
  });

  it('builds what it depends on', () => {
    expect(checkReferences(repository)).toEqual([]);
  });

  it('keeps indexes, processes and file lengths in shape', () => {
    expect(checkShape(repository)).toEqual([]);
  });

  it('excuses no file from its length that is gone or of usual length by now', () => {
    for (const path of Object.keys(LONG_FILES)) {
      expect(read(path).split('\n').length - 1, path).toBeGreaterThan(MAX_LINES);
    }
    const short = checkShortFiles(repository, {}).join('\n');
    for (const path of Object.keys(SHORT_FILES)) expect(short).toContain(` ${path} `);
  });

  it('has a line in ARCHITECTURE.md for every folder, and none for what is not there', () => {
    const folders = ['apps', 'packages', 'infra', 'test'].flatMap(foldersIn);
    const exists = (path: string): boolean => existsSync(join(ROOT, path));
    expect(checkArchitecture(read('ARCHITECTURE.md'), [...folders, 'migrations'], exists)).toEqual([]);
  });

  it('has a reason in ARCHITECTURE.md for every runtime dependency', () => {
    const outside = repository.workspaces
      .filter((workspace) => !workspace.folder.startsWith('test/'))
      .flatMap((workspace) => workspace.dependencies)
      .filter((name) => !name.startsWith('@packhouse/'));
    expect(checkDependencies(read('ARCHITECTURE.md'), outside)).toEqual([]);
  });

  it('has a test for every invariant of SPEC.md, and the test says so', () => {
    const readTest = (path: string): string | undefined =>
      existsSync(join(ROOT, path)) ? read(path) : undefined;
    expect(checkInvariants(read('SPEC.md'), readTest)).toEqual([]);
  });

  it('tries every invariant in a clone with Node alone', async () => {
    const { LATER, NIGHT } = await import(join(ROOT, 'infra/bootstrap/suites/files.mjs'));
    const readTest = (path: string): string | undefined =>
      existsSync(join(ROOT, path)) ? read(path) : undefined;
    const tests = listTestsOfStrangers(read('SPEC.md'), [...LATER, ...NIGHT], readTest);
    expect([...tests].filter(([, run]) => run.length === 0).map(([number]) => number)).toEqual([]);
  });

  it('names no place that only one machine has', () => {
    const own = 'test/architecture/';
    const texts = filesUnder('').filter(
      (path) => /\.(ts|tsx|mjs|json|md|yaml|sql|sh)$|^\.(ci\/|env|npmrc)/.test(path) && !path.startsWith(own),
    );
    expect(texts.length).toBeGreaterThan(100);
    expect(texts.flatMap((path) => checkPlaces(path, read(path)))).toEqual([]);
  });

  it('names no path that leads out of it, and nothing that is beside it on some machines', () => {
    const own = 'test/architecture/';
    const texts = filesUnder('').filter(
      (path) => /\.(tsx?|m[jt]s|json|md|ya?ml|py|sh)$/.test(path) && !path.startsWith(own),
    );
    expect(texts.length).toBeGreaterThan(1_000);
    expect(texts.flatMap((path) => checkPaths({ path, text: read(path) }))).toEqual([]);
  });

  it('never tells anybody to run a package of a stranger', () => {
    const texts = filesUnder('').filter((path) => !/\.(gz|png|tgz)$/.test(path));
    expect(texts.length).toBeGreaterThan(100);
    expect(texts.flatMap((path) => checkNpx(path, read(path)))).toEqual([]);
  });

  it('has no function of the product that cannot be read in one go, and few that are long', () => {
    expect(checkFunctions(product, FUNCTION_LINES)).toEqual([]);
  });

  it('has a table of what its capabilities take in lines, and none has grown by more than a tenth', () => {
    const counted = sourceTexts.filter(
      ({ path }) => !path.startsWith('test/') && !/\.test\.tsx?$/.test(path),
    );
    expect(checkCapabilities(CAPABILITIES, counted)).toEqual([]);
  });

  it('has no folder of the product with so many files that it needs rooms', () => {
    const paths = product.map(({ path }) => path);
    expect(checkFolders(paths, MAX_FOLDER_FILES)).toEqual([]);
  });

  it('spreads no literal into a literal', () => {
    expect(sourceTexts.flatMap(checkSpreads), 'Write the members out.').toEqual([]);
  });

  it('shows no shell lines that cannot be pasted', () => {
    expect(documents.map(({ path }) => path)).toContain('docs/gateway.md');
    expect(documents.flatMap(({ path, text }) => checkPasting(path, text))).toEqual([]);
  });

  it('has documents that people finish', () => {
    expect(
      checkLength(documents, MAX_DOCUMENT_WORDS),
      'Shorten what is said twice, or what a test or the code says.',
    ).toEqual([]);
  });

  it('has no bullet twice in its documents', () => {
    expect(checkBullets(documents), 'Say it in one place, and link to it.').toEqual([]);
  });

  it('has no links and paths in its documents that lead nowhere', () => {
    expect(checkLinks(documents, (path) => existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('has every page of docs in its index', () => {
    const index = read('docs/README.md');
    const pages = filesUnder('docs').filter((path) => path.endsWith('.md') && path !== 'docs/README.md');
    expect(pages.filter((path) => !index.includes(`](${path.replace('docs/', '')})`))).toEqual([]);
  });

  it('explains every variable that it reads', () => {
    const apps = sources.filter((file) => file.path.startsWith('apps/') && !file.isTest);
    expect(
      checkVariables(
        read('.env.example'),
        read('docs/settings.md'),
        apps.map((file) => file.text),
      ),
    ).toEqual([]);
  });

  it('uses every error code', () => {
    const catalogue = 'packages/runtime/src/catalogue.ts';
    const others = sources.filter((file) => file.path !== catalogue && !file.isTest);
    expect(
      checkCodes(
        read(catalogue),
        others.map((file) => file.text),
      ),
    ).toEqual([]);
  });

  it('opens every package with a README whose second line is the sentence of its package.json', () => {
    for (const { folder } of repository.workspaces) {
      const { name, description } = JSON.parse(read(`${folder}/package.json`)) as Record<string, string>;
      expect(read(`${folder}/README.md`).split('\n').slice(0, 3), folder).toEqual([
        `# ${name}`,
        '',
        description,
      ]);
    }
  });
});
