import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
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
import { checkImports } from './check-imports.js';
import { checkReferences } from './check-references.js';
import { checkShape } from './check-shape.js';
import { checkExports, checkShortFiles } from './check-uses.js';
import { type Repository, sourceFile } from './repository.js';

/** A repository of one workspace with these files. */
function holding(
  name: string,
  folder: string,
  files: Record<string, string>,
  more: { dependencies?: string[]; devDependencies?: string[]; references?: string[] } = {},
): Repository {
  return {
    tools: ['vitest'],
    built: [folder],
    workspaces: [
      {
        name: `@packhouse/${name}`,
        folder,
        dependencies: more.dependencies ?? [],
        devDependencies: more.devDependencies ?? [],
        references: more.references ?? [],
        files: Object.entries(files).map(([path, text]) => sourceFile(posix.join(folder, 'src', path), text)),
      },
    ],
  };
}
/** A file of the console's pages. */
const page = (text: string) =>
  holding('console', 'apps/console', { '../web/src/a.tsx': text }, { devDependencies: ['preact'] });
const chain = (files: Record<string, string>, dependencies: string[] = []) =>
  holding('chain', 'packages/chain', files, { dependencies });

describe('the rules catch', () => {
  it.each([
    [
      'a pure room that imports a port',
      chain({ 'a.ts': "import { x } from '@packhouse/queue';" }),
      /may not/,
    ],
    [
      'a port that imports a port',
      holding(
        'queue',
        'packages/queue',
        { 'a.ts': "import '@packhouse/database';" },
        { dependencies: ['@packhouse/database'] },
      ),
      /may not/,
    ],
    [
      'an app that imports an app',
      holding(
        'cli',
        'apps/cli',
        { 'a.ts': "import '@packhouse/gateway';" },
        { dependencies: ['@packhouse/gateway'] },
      ),
      /may not/,
    ],
    [
      'an app that reaches into another',
      holding('gateway', 'apps/gateway', { 'a.ts': "import '@packhouse/packer/main';" }),
      /reaches into/,
    ],
    [
      'a page that takes values of a port',
      page("import { x } from '@packhouse/database';"),
      /only its types/,
    ],
    ['a page that needs Node', page("import 'node:fs';"), /browsers do not have/],
    ['a page that needs a package', page("import 'fastify';"), /does not declare/],
    ['a page that imports its server', page("import '../../src/settings.js';"), /share no file/],
    [
      'a deep import',
      chain({ 'a.ts': "import { x } from '@packhouse/runtime/src/clock.js';" }, ['@packhouse/runtime']),
      /reaches into/,
    ],
    [
      'a path out of the package',
      chain({ 'a.ts': "import { x } from '../../runtime/src/clock.js';" }),
      /outside of/,
    ],
    [
      'an import of the own index',
      chain({ 'a.ts': "import { x } from './index.js';" }),
      /own package's index/,
    ],
    [
      'an undeclared workspace',
      chain({ 'a.ts': "import { x } from '@packhouse/runtime';" }),
      /does not declare/,
    ],
    [
      'an undeclared package',
      chain({ 'a.ts': "import { x } from '@scope/pkg/deep';" }),
      /imports @scope\/pkg, which/,
    ],
    ['a test tool in a source', chain({ 'a.ts': "import { it } from 'vitest';" }), /imports vitest, which/],
    ['a builtin without its prefix', chain({ 'a.ts': "import fs from 'fs';" }), /write node:fs/],
    ['a port in a test of a pure room', chain({ 'a.test.ts': "import '@packhouse/database';" }), /may not/],
  ])('%s', (_, repository, breach) => {
    expect(checkImports(repository)).toEqual([expect.stringMatching(breach)]);
  });

  it('what tests and command lines may do is let through', () => {
    expect(
      checkImports(chain({ 'a.test.ts': "import 'vitest'; import '@packhouse/local'; import 'node:fs';" })),
    ).toEqual([]);
    const starts = { 'a.ts': "import.meta.resolve('@packhouse/gateway/main');" };
    expect(checkImports(holding('cli', 'apps/cli', starts))).toEqual([]);
  });

  it('circles of files, also of types alone', () => {
    const files = { 'a.ts': "import { b } from './b.js';", 'b.ts': "export { c } from './c.js';" };
    const way = (...names: string[]) => names.map((name) => `packages/chain/src/${name}.ts`).join(' → ');
    expect(checkFileCircles(chain({ ...files, 'c.ts': "import type { d } from './d.js';" }))).toEqual([]);
    expect(checkFileCircles(chain({ ...files, 'c.ts': "import type { a } from './a.js';" }))).toEqual([
      `packages/chain: a.ts imports b.ts, which leads back to it — ${way('a', 'b', 'c', 'a')}`,
      `packages/chain: b.ts imports c.ts, which leads back to it — ${way('b', 'c', 'a', 'b')}`,
      `packages/chain: c.ts imports a.ts, which leads back to it — ${way('c', 'a', 'b', 'c')}`,
    ]);
  });

  it('circles of folders, also over a third one, and imports from a folder back up', () => {
    const folder = (name: string) => `packages/chain/src${name}`;
    const arrows = (files: Record<string, string>) =>
      checkFolderCircles(chain(files)).map((breach) => breach.split(',')[0]);
    expect(
      checkFolderCircles(
        chain({
          'a/x.ts': "import '../b/x.js';",
          'a/y.ts': '',
          'b/x.ts': "import type { y } from '../a/y.js';",
        }),
      ),
    ).toEqual([
      `${folder('/a')} imports from ${folder('/b')}, which leads back to it — ${folder('/a/x.ts')} imports ../b/x.js; src/a → src/b → src/a`,
      `${folder('/b')} imports from ${folder('/a')}, which leads back to it — ${folder('/b/x.ts')} imports ../a/y.js; src/b → src/a → src/b`,
    ]);
    expect(
      arrows({
        'a/x.ts': "import '../b/x.js';",
        'b/x.ts': "import '../c/x.js';",
        'c/x.ts': "import '../a/y.js';",
        'a/y.ts': '',
      }),
    ).toEqual([
      `${folder('/a')} imports from ${folder('/b')}`,
      `${folder('/b')} imports from ${folder('/c')}`,
      `${folder('/c')} imports from ${folder('/a')}`,
    ]);
    const backUp = {
      'top.ts': "import './a/x.js';",
      'a/x.ts': "import '../settings.js';",
      'settings.ts': '',
    };
    expect(arrows(backUp)).toEqual([
      `${folder('')} imports from ${folder('/a')}`,
      `${folder('/a')} imports from ${folder('')}`,
    ]);
    expect(arrows({ ...backUp, 'top.ts': '', 'main.ts': "import './a/x.js';" })).toEqual([]);
    expect(arrows({ ...backUp, 'top.ts': '', 'settings.test.ts': "import './a/x.js';" })).toEqual([]);
  });

  it('exports that nobody else uses, or only tests', () => {
    const exporting = (others: Record<string, string>) =>
      checkExports(chain({ 'a.ts': 'export const one = 1;\nexport interface Two {}', ...others }));
    const both = "import { one as uno, type Two } from './a.js';";
    expect(exporting({ 'b.ts': both })).toEqual([]);
    expect(exporting({ 'b.ts': "const a = await import('./a.js');" })).toEqual([]);
    expect(exporting({ 'b.ts': "import type { Two } from './a.js';", 'a.test.ts': both })).toEqual([
      'packages/chain: only tests use the export one — packages/chain/src/a.ts',
    ]);
    expect(exporting({})).toEqual([
      'packages/chain: nobody else uses the export one — packages/chain/src/a.ts',
      'packages/chain: nobody else uses the export Two — packages/chain/src/a.ts',
    ]);
    expect(
      checkExports(
        chain({
          'testing/a.ts': 'export const one = 1;',
          'a.test.ts': "import { one } from './testing/a.js';",
        }),
      ),
    ).toEqual([]);
  });

  it('names in an index that no other workspace imports, or only its tests', () => {
    const exported = { 'index.ts': "export { a, type B, c } from './a.js';", 'a.ts': 'export { a, B, c };' };
    const using = (name: string, folder: string, files: Record<string, string>) => {
      const one = chain(exported);
      one.workspaces.push(...holding(name, folder, files).workspaces);
      return checkExports(one);
    };
    const all = "import { a, type B, c } from '@packhouse/chain';";
    expect(using('bundle', 'packages/bundle', { 'x.ts': all })).toEqual([]);
    expect(
      using('bundle', 'packages/bundle', {
        'x.ts': "import type { B } from '@packhouse/chain';",
        'x.test.ts': "import { c } from '@packhouse/chain';",
      }),
    ).toEqual([
      'packages/chain: its index exports a, which nobody imports',
      'packages/chain: its index exports c, which only tests import',
    ]);
    expect(using('e2e', 'test/e2e', { 'x.ts': all })).toHaveLength(3);
  });

  it('short files with one importer', () => {
    const short = (others: Record<string, string>) =>
      checkShortFiles(chain({ 'a.ts': 'export const one = 1;\n', ...others }));
    const using = "import { one } from './a.js';\n".padEnd(50, '\n');
    expect(short({ 'b.ts': using, 'a.test.ts': using })).toEqual([
      'packages/chain: a.ts has fewer than 15 lines and one importer — packages/chain/src/a.ts belongs into packages/chain/src/b.ts',
    ]);
    expect(short({ 'b.ts': using, 'c.ts': using })).toEqual([]);
    expect(short({ 'b.ts': using, 'index.ts': "export { one } from './a.js';" })).toEqual([]);
    expect(short({ 'index.ts': "export { one } from './a.js';" })).toEqual([]);
    expect(short({ 'b.ts': using, 'a.ts': '\n'.repeat(15) })).toEqual([]);
  });

  it('references and dependencies that differ', () => {
    const one = holding('chain', 'packages/chain', {}, { references: ['packages/queue'] });
    one.workspaces.push({
      name: '@packhouse/new',
      folder: 'packages/new',
      dependencies: ['@packhouse/chain'],
      devDependencies: [],
      references: [],
      files: [],
    });
    expect(checkReferences(one)).toEqual([
      'packages/chain/tsconfig.json references packages/queue, which is no dependency',
      'packages/new/tsconfig.json does not reference packages/chain, its dependency',
      'tsconfig.json does not build packages/new',
    ]);
  });

  it.each([
    [
      'code in an index',
      { 'index.ts': "export { a } from './a.js';\nexport const b = 1;" },
      /only re-export/,
    ],
    ['a star', { 'a.ts': "export * from './b.js';" }, /with a star/],
    ['the environment in a library', { 'a.ts': 'const x = process.env.HOME;' }, /process\.env/],
    ['an exit in a library', { 'a.ts': 'process.exit(1);' }, /process\.exit/],
    ['a signal handler in a library', { 'a.ts': "process.on('SIGINT', stop);" }, /process\.on/],
    ['a date where time is measured', { 'a.ts': 'const from = clock.now();' }, /clock\.now.*elapsed/],
    ['a date beside the clock', { 'a.ts': 'const from = Date.now();' }, /Date\.now/],
    ['a long file', { 'a.ts': 'x;\n'.repeat(401) }, /401 lines/],
    ['a long test', { 'a.test.ts': 'x;\n'.repeat(501) }, /501 lines/],
  ])('%s', (_, files, breach) => {
    expect(checkShape(chain(files as Record<string, string>))).toEqual([expect.stringMatching(breach)]);
  });

  it('what is only said, in comments and strings, is let through', () => {
    const files = {
      'index.ts': "// Doors.\nexport { a, type B } from './a.js';\n",
      'a.ts': "// process.exit\n'process.env';",
    };
    expect(checkShape(chain(files))).toEqual([]);
  });

  it('folders without a line and lines without a folder', () => {
    const document = 'The room `packages/chain/` is pure; `packages/gone` is not; `npm start` is no path.';
    expect(
      checkArchitecture(document, ['packages/chain', 'packages/new'], (path) => path !== 'packages/gone'),
    ).toEqual([
      'ARCHITECTURE.md has no line for packages/new',
      'ARCHITECTURE.md names packages/gone, which does not exist',
    ]);
  });

  it('dependencies without a reason, and reasons without a dependency', () => {
    const document = '## Runtime dependencies\n\n- `a`, `b`: both.\n- `c`: none.\n\n## Else\n\n- `e`: no.\n';
    expect(checkDependencies(document, ['a', 'b', 'd', 'a'])).toEqual([
      'ARCHITECTURE.md gives no reason for d',
      'ARCHITECTURE.md excuses c, which nobody needs',
    ]);
  });

  it('invariants without a test, with one that is gone, and with one that does not know', () => {
    const specification = `# SPEC

## Invariants

1. One. Test: \`packages/a/src/a.test.ts\`.
2. Two, on
   two lines. Test: \`packages/a/src/a.test.ts\`.
3. Three. Test: \`packages/a/src/gone.test.ts\`.
4. Four.
5. Five. Tests: \`packages/a/src/a.test.ts\` ("holds always"), \`packages/a/src/a.test.ts\`
   ("is renamed").

## Else

6. No invariant.
`;
    const readTest = (path: string) =>
      path === 'packages/a/src/a.test.ts' ? "it('… (invariant 1)'); it('holds always')" : undefined;
    expect(checkInvariants(specification, readTest)).toEqual([
      'packages/a/src/a.test.ts does not name invariant 2, which SPEC.md says it proves',
      'SPEC.md names packages/a/src/gone.test.ts for invariant 3, which does not exist',
      'SPEC.md names no test for invariant 4',
      'packages/a/src/a.test.ts has no test "is renamed", which SPEC.md names for invariant 5',
    ]);
    expect(checkInvariants('# SPEC\n', readTest)).toHaveLength(1);
  });

  it('an invariant that nobody tries without more programs', () => {
    const specification = [
      '## Invariants',
      '1. Kept. `a/x.test.ts` ("is kept"), `a/late.test.ts`.',
      '2. Long. `a/x.test.ts` ("takes long"), `a/late.test.ts` ("is kept").',
      '3. On Redis. `a/x.test.ts` ("holds on Redis").',
      '## Next',
    ].join('\n');
    const text = "it('is kept', f);\nlonger('takes long', f);\nit('holds on Redis (needs redis-server)', f);";
    expect(listTestsOfStrangers(specification, ['a/late.test.ts'], () => text)).toEqual(
      new Map([
        [1, ['`a/x.test.ts` ("is kept")']],
        [2, []],
        [3, []],
      ]),
    );
  });

  it.each([
    'see /home/me/notes',
    '"/Users/me/.npm"',
    'cat /tmp/x.log',
    `https://${'registry'}.example.com/pkg`,
  ])('the foreign place in %s', (text) => {
    expect(checkPlaces('a.md', text)).toHaveLength(1);
  });

  it.each(['apps/home/x', 'https://a.example/home/x', 'the registry at {registry_url}', '`/demo/v1/`'])(
    'nothing foreign in %s',
    (text) => {
      expect(checkPlaces('a.md', text)).toEqual([]);
    },
  );

  it('a command that may install the package of a stranger', () => {
    const commands = ['', '--yes ', '--no ', '--no -- '].map((flags) => `\`npx ${flags}packhouse status\``);
    expect(commands.map((command) => checkNpx('a.md', command).length)).toEqual([1, 1, 1, 0]);
  });

  it.each(['$ npm start', 'npm start # a demo', '# a demo', '#> {}', '  % ls'])(
    'a line that cannot be pasted: %s',
    (line) => {
      expect(checkPasting('a.md', `\`\`\`sh\nnpm test\n${line}\n\`\`\`\n`)).toHaveLength(1);
      expect(
        checkPasting('a.md', `\`\`\`sh\ncurl a/b#c $KEY\n\`\`\`\n\`\`\`json\n${line}\n\`\`\`\n`),
      ).toEqual([]);
    },
  );

  it('variables that nobody explains, and one that is explained twice', () => {
    const source =
      '  PORT: integerSetting("a port"),\n  OTHER_THING: z.string(),\n if (io.env.DATA_DIR) a.INSIDE: 1';
    expect(checkVariables('# PORT=8080\n# HOST=a\n# PORT=80\n', '`PORT` and `DATA_DIR`', [source])).toEqual([
      '.env.example does not explain OTHER_THING',
      '.env.example does not explain DATA_DIR',
      'docs/settings.md does not explain OTHER_THING',
      '.env.example explains PORT twice',
    ]);
  });

  it('codes that nobody throws', () => {
    const catalogue = "  USED: final(\n    64,\n    'Used.',\n  ),\n  NEVER_USED: retryable(69, 'Never.'),\n";
    expect(checkCodes(catalogue, ["code: 'USED'"])).toEqual(['the error code NEVER_USED is used nowhere']);
  });
});
