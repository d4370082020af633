import { describe, expect, it } from 'vitest';
import { checkCycles } from './check-cycles.js';
import {
  checkArchitecture,
  checkCodes,
  checkDependencies,
  checkInvariants,
  checkNpx,
  checkPlaces,
  checkVariables,
} from './check-documents.js';
import { checkImports } from './check-imports.js';
import { checkReferences } from './check-references.js';
import { checkShape } from './check-shape.js';
import { type Repository, sourceFile } from './repository.js';

/** A repository of one workspace with these files. */
function holding(
  name: string,
  folder: string,
  files: Record<string, string>,
  more: { dependencies?: string[]; references?: string[] } = {},
): Repository {
  return {
    tools: ['vitest'],
    built: [folder],
    workspaces: [
      {
        name: `@packhouse/${name}`,
        folder,
        dependencies: more.dependencies ?? [],
        references: more.references ?? [],
        files: Object.entries(files).map(([path, text]) => sourceFile(`${folder}/src/${path}`, text)),
      },
    ],
  };
}
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

  it('circles of files, but not of types', () => {
    const files = { 'a.ts': "import { b } from './b.js';", 'b.ts': "export { c } from './c.js';" };
    expect(checkCycles(chain({ ...files, 'c.ts': "import type { a } from './a.js';" }))).toEqual([]);
    expect(checkCycles(chain({ ...files, 'c.ts': "import { a } from './a.js';" }))).toEqual([
      expect.stringContaining(
        'a.ts → packages/chain/src/b.ts → packages/chain/src/c.ts → packages/chain/src/a.ts',
      ),
    ]);
  });

  it('references and dependencies that differ', () => {
    const one = holding('chain', 'packages/chain', {}, { references: ['packages/queue'] });
    one.workspaces.push({
      name: '@packhouse/new',
      folder: 'packages/new',
      dependencies: ['@packhouse/chain'],
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
    ['a long file', { 'a.ts': 'x;\n'.repeat(301) }, /301 lines/],
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

  it('variables that nobody explains, and one that is explained twice', () => {
    const source =
      '  PORT: integerSetting("a port"),\n  OTHER_THING: z.string(),\n if (io.env.DATA_DIR) a.INSIDE: 1';
    expect(checkVariables('# PORT=8080\n# HOST=a\n# PORT=80\n', [source])).toEqual([
      '.env.example does not explain OTHER_THING',
      '.env.example does not explain DATA_DIR',
      '.env.example explains PORT twice',
    ]);
  });

  it('codes that nobody throws', () => {
    const catalogue = '  USED: {\n    retryable: false,\n  },\n  NEVER_USED: { retryable: false },\n';
    expect(checkCodes(catalogue, ["code: 'USED'"])).toEqual(['the error code NEVER_USED is used nowhere']);
  });
});
