#!/usr/bin/env node
// What npm links as `packhouse`. It links only what is there while it installs, and the build comes after that.
import { existsSync } from 'node:fs';

const main = new URL('../dist/main.js', import.meta.url);
if (existsSync(main)) {
  await import(main.href);
} else {
  process.stderr.write('packhouse: Packhouse is not built yet: run `npm run build` in its folder first.\n');
  process.exitCode = 1;
}
