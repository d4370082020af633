import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../apps/console/', import.meta.url));
const stamp = `${folder}dist/web/sources.txt`;

/** Whether the pages of the console were built from the sources that are there now. */
export function pagesAreBuilt() {
  try {
    return readFileSync(stamp, 'utf8') === digest();
  } catch {
    return false;
  }
}

/** Notes that they are; to be called after a build. */
export function notePagesBuilt() {
  writeFileSync(stamp, digest());
}

function digest() {
  const hash = createHash('sha256');
  // The pages take code of two packages beside their own.
  const files = ['web', '../../packages/json/src', '../../packages/runtime/src/time']
    .map((path) => folder + path)
    .flatMap((from) => readdirSync(from, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`);
  for (const file of [...files, `${folder}package.json`, `${folder}vite.config.ts`].sort()) {
    hash.update(`${file.slice(folder.length)}\n`).update(readFileSync(file));
  }
  return hash.digest('hex');
}
