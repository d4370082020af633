#!/usr/bin/env node
// What npm links as `packhouse`. It links only what is there while it installs, and the build comes after that. This
// file is read by versions of Node that the program itself cannot run on.
import { existsSync } from 'node:fs';

const MIN_NODE = [20, 15];
const [major, minor] = process.versions.node.split('.').map(Number);
const main = new URL('../dist/main.js', import.meta.url);
if (major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1])) {
  giveUp(
    `Packhouse needs Node ${MIN_NODE.join('.')} or later, this is ${process.versions.node}. Install it from https://nodejs.org.`,
  );
} else if (!existsSync(main)) {
  giveUp('Packhouse is not built yet: run `npm run build` in its folder first.');
} else {
  import(main.href);
}

function giveUp(text) {
  process.stderr.write(`packhouse: ${text}\n`);
  process.exitCode = 1;
}
