// `node infra/image/unpack.mjs PACKED FOLDER`: puts the tarballs of `npm run pack` into the folders of their workspaces
// below FOLDER, beside package-lock.json: `npm ci` there installs exactly the versions that were tested.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const [packed, folder] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write('usage: node infra/image/unpack.mjs PACKED FOLDER\n');
  process.exit(64);
}
const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8'));
mkdirSync(folder, { recursive: true });
for (const file of ['package.json', 'package-lock.json', 'LICENSE'])
  copyFileSync(`${root}${file}`, path.join(folder, file));
const tarballs = readdirSync(packed);
for (const [workspace, { name }] of Object.entries(packages)) {
  const tarball = tarballs.find((file) => file.startsWith(`${name?.replace('@', '').replace('/', '-')}-`));
  if (workspace === '' || workspace.startsWith('node_modules/') || tarball === undefined) continue;
  const target = path.join(folder, workspace);
  mkdirSync(target, { recursive: true });
  execFileSync('tar', ['-xzf', path.join(packed, tarball), '-C', target, '--strip-components=1']);
}
