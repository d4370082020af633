// What belongs to a test: itself, the file that it is named after, and the helpers that it imports.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;
const IMPORT = /\bfrom '(\.[^']+)\.js'|\bimport\('(\.[^']+)\.js'\)/g;

/** The sources below the root without comments, by their paths from there. */
export function readSources(root) {
  const files = ['apps', 'packages', 'infra', 'test'].flatMap((folder) => listSources(root, folder));
  return new Map(
    files.map((file) => [file, readFileSync(path.join(root, file), 'utf8').replace(COMMENT, '')]),
  );
}

/** The test files among sources. */
export function listTests(sources) {
  return [...sources.keys()].filter((file) => /\.test\.tsx?$/.test(file)).sort();
}

function listSources(root, folder) {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return /^(node_modules|dist)$/.test(entry.name) ? [] : listSources(root, file);
    return /\.tsx?$/.test(file) ? [file] : [];
  });
}

/** The test, the file it is named after, and the helpers it imports: what is in no product, or in a folder `testing`. */
export function listParts(test, texts) {
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
