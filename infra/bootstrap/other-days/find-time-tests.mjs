import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** What depends on the date, the hour, the zone or the locale. Durations (`elapsed`, `sleep`) do not. */
const TIME =
  /new Date\b|\bDate\.(now|parse|UTC)\b|toLocale|\bIntl\.|localeCompare|\bnow\(\)|clock_timestamp|interval '|setSystemTime|[dD]eadline|[sS]chedules?\b|[cC]ron\b|[eE]xpires|windows: \[|\b(per|in|of)Day\b|\b(to|yester)day\b|\btomorrow\b|\bmidnight\b|\b(days?|months?|hours?)\b/;
/** Tests, or folders of them, that compare the date with a clock that is not shifted. */
export const OTHER_CLOCKS = [
  // That of a Postgres that they start themselves.
  ...['attack', 'bench', 'browser', 'clients', 'e2e', 'kill', 'simulation'].map((name) => `test/${name}/`),
  // The dates of files.
  'packages/object-store/src/create-disk-store.test.ts',
  'packages/pipeline/src/audit/objects.test.ts',
];
const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;
const IMPORT = /\bfrom '(\.[^']+)\.js'|\bimport\('(\.[^']+)\.js'\)/g;

/** The test files that touch time, from the root: they do, or what they test does, or a helper that they import. */
export function findTimeTests(root) {
  const sources = ['apps', 'packages', 'infra', 'test'].flatMap((folder) => listSources(root, folder));
  const texts = new Map(
    sources.map((file) => [file, readFileSync(path.join(root, file), 'utf8').replace(COMMENT, '')]),
  );
  return sources
    .filter((file) => /\.test\.tsx?$/.test(file))
    .filter((test) => !OTHER_CLOCKS.some((path) => test.startsWith(path)))
    .filter((test) => listParts(test, texts).some((file) => TIME.test(texts.get(file))))
    .sort();
}

function listSources(root, folder) {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return /^(node_modules|dist)$/.test(entry.name) ? [] : listSources(root, file);
    return /\.tsx?$/.test(file) ? [file] : [];
  });
}

/** The test, the file it is named after, and the helpers it imports: what is in no product, or in a folder `testing`. */
function listParts(test, texts) {
  const subject = test.replace(/\.test(\.tsx?)$/, '$1');
  const parts = new Set(texts.has(subject) ? [test, subject] : [test]);
  const isHelper = (file) => /\/testing\/|(^|\/)test\//.test(file);
  for (const file of parts) {
    if (file === subject) continue;
    for (const [, from, dynamic] of texts.get(file).matchAll(IMPORT)) {
      const base = path.posix.join(path.posix.dirname(file), from ?? dynamic);
      const found = [`${base}.ts`, `${base}.tsx`].find((at) => texts.has(at));
      if (found !== undefined && isHelper(found)) parts.add(found);
    }
  }
  return [...parts];
}
