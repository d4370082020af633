import { codeOnly, withoutComments } from './imports-of.js';
import type { Repository, SourceFile } from './repository.js';
import { DATE_FILES, LONG_FILES, MAX_LINES, MAX_TEST_LINES, PROCESS_FILES } from './rules.js';

/** Breaches inside single files: what an index holds, who touches the process or reads the date, how long a file is. */
export function checkShape(repository: Repository): string[] {
  return repository.workspaces
    .flatMap((workspace) => workspace.files)
    .flatMap((file) => [
      ...indexBreaches(file),
      ...processBreaches(file),
      ...dateBreaches(file),
      ...lengthBreaches(file),
    ]);
}

const REEXPORT = /export\s+(?:type\s+)?\{[^}]*\}\s*from\s*['"][^'"]+['"];?/g;

function indexBreaches(file: SourceFile): string[] {
  const code = withoutComments(file.text);
  const breaches = /^\s*export\s*\*/m.test(codeOnly(file.text))
    ? [`${file.path} exports with a star: name what leaves`]
    : [];
  if (/\/src\/index\.ts$/.test(file.path) && code.replace(REEXPORT, '').trim() !== '') {
    breaches.push(`${file.path} is a door and may only re-export by name`);
  }
  return breaches;
}

function processBreaches(file: SourceFile): string[] {
  if (file.isTest || PROCESS_FILES.some((allowed) => allowed.test(file.path))) return [];
  const found = /\bprocess\.(env|exit|exitCode|on|once)\b/.exec(codeOnly(file.text));
  return found === null
    ? []
    : [`${file.path} uses ${found[0]}: only a main.ts reads the environment, listens and exits`];
}

const DATE = /\bDate\.now\b|\bnew Date\(\)|\b\w*[cC]lock\)?\.now\b|\bhrtime\b/;

function dateBreaches(file: SourceFile): string[] {
  if (file.isTest || file.path.startsWith('test/') || file.path.startsWith('infra/')) return [];
  const found = DATE.exec(codeOnly(file.text));
  if ((found === null) === (DATE_FILES[file.path] === undefined)) return [];
  return found === null
    ? [`${file.path} reads no date: take it out of DATE_FILES in rules.ts`]
    : [
        `${file.path} uses ${found[0]}, which jumps when the clock is set: measure durations by clock.elapsed(), and ` +
          'list who needs dates in DATE_FILES in rules.ts',
      ];
}

function lengthBreaches(file: SourceFile): string[] {
  const lines = file.text.split('\n').length - 1;
  const most = file.isTest ? MAX_TEST_LINES : MAX_LINES;
  if (lines <= most || LONG_FILES[file.path] !== undefined) return [];
  return [`${file.path} has ${lines} lines: above ${most}, ask which second idea moved in`];
}
