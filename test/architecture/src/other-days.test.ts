import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ROOT } from './repository.js';

const load = (file: string) => import(join(ROOT, 'infra/bootstrap/other-days', file));

describe('the tests that touch time', () => {
  let folder: string;
  afterEach(() => rmSync(folder, { recursive: true }));
  const find = async (files: Record<string, string>): Promise<string[]> => {
    folder = mkdtempSync(join(tmpdir(), 'other-days-'));
    for (const name of ['apps', 'packages', 'infra', 'test']) mkdirSync(join(folder, name));
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const { findTimeTests } = await load('find-time-tests.mjs');
    return findTimeTests(folder);
  };

  it('are those that do, those of files that do, and those whose helpers do', async () => {
    const found = await find({
      'apps/a/src/itself.test.ts': 'const today = Math.floor(Date.now() / DAY_MS);',
      'apps/a/src/subject.ts': 'const name = text.toLocaleUpperCase();',
      'apps/a/src/subject.test.ts': "import { subject } from './subject.js';",
      'apps/a/src/testing/world.ts': "import { clock } from './clock.js';",
      'apps/a/src/testing/clock.ts': 'export const clock = () => new Date();',
      'apps/a/src/helped.test.ts': "import { world } from './testing/world.js';",
      'apps/a/src/other.ts': 'export const now = new Date();',
      'apps/a/src/none.test.ts':
        "// the deadline\nimport { other } from './other.js';\nconst at = clock.elapsed();",
    });
    expect(found).toEqual(['helped', 'itself', 'subject'].map((name) => `apps/a/src/${name}.test.ts`));
  });
});

it('the short form of the moments has every day of the week, and most of what passes', async () => {
  const { MOMENTS } = (await load('moments.mjs')) as {
    MOMENTS: { name: string; at: string; crosses?: boolean; short?: boolean }[];
  };
  const days = (moments: typeof MOMENTS) => {
    const passed = moments.flatMap(({ at, crosses }) => [Date.parse(at), Date.parse(at) - (crosses ? 1 : 0)]);
    return new Set(passed.map((ms) => new Date(ms).getUTCDay())).size;
  };
  const short = MOMENTS.filter((moment) => moment.short);
  expect([days(MOMENTS), days(short)]).toEqual([7, 7]);
  expect(new Set(MOMENTS.map(({ name }) => name)).size).toBe(MOMENTS.length);
  expect(short.length).toBeLessThan(11);
});
