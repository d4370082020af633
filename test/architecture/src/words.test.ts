import { describe, expect, it, test } from 'vitest';
import { filesUnder, read } from './repository.js';
import { checkWords } from './words.js';

const SOURCES =
  /^(?:apps\/console\/(?:web\/)?src|apps\/cli\/src|packages\/operations\/src)\/.*(?<!\.test)\.tsx?$/;
const TEXTS = /\.md$|^infra\/alerts\//;

describe('the words of this project', () => {
  it('are those of the field in screens, help, documents, alerts and the admin API', () => {
    const paths = filesUnder('').filter((path) => SOURCES.test(path) || TEXTS.test(path));
    expect(paths).toContain('apps/console/web/src/app.tsx');
    expect(paths).toContain('infra/alerts/METRICS.md');
    expect(paths.flatMap((path) => checkWords(path, read(path)))).toEqual([]);
  });

  test('a phrase that is not ours is found with its line, also across two lines', () => {
    const text = '# A node\n\nThe limit is 50 requests a second. Press *Try\nagain now*.\n';
    expect(checkWords('docs/x.md', text)).toEqual([
      'docs/x.md:3 says "Try again now": say "Retry now"',
      'docs/x.md:3 says "requests a second": say "per second"',
    ]);
  });

  test('of a source its texts count, not its comments', () => {
    const source =
      "// Nothing is wanted.\nconst title = 'Can and lacks';\nconst view = <b>Leave as it is</b>;\n";
    expect(checkWords('screen.tsx', source)).toEqual([
      'screen.tsx:2 says "Can and lacks": say "Capabilities"',
      'screen.tsx:3 says "Leave as it is": say "Cancel"',
    ]);
  });

  test('innocent words pass', () => {
    const text =
      'Blocks of the second kind, wanted or not. It is complete today. A second upstream lives on.';
    expect(checkWords('docs/x.md', text)).toEqual([]);
  });
});
