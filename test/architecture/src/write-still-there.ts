// Writes still-there.json anew: node_modules/.bin/tsx test/architecture/src/write-still-there.ts
import { writeFileSync } from 'node:fs';
import { checkFileCircles, checkFolderCircles } from './check-circles.js';
import { checkExports, checkShortFiles } from './check-uses.js';
import { readRepository } from './repository.js';
import { nameOf } from './still-there.js';

const repository = readRepository();
const breaches = [checkFileCircles, checkFolderCircles, checkExports, checkShortFiles]
  .flatMap((check) => check(repository))
  .map(nameOf);
const file = new URL('./still-there.json', import.meta.url);
writeFileSync(file, `${JSON.stringify([...new Set(breaches)], null, 2)}\n`);
