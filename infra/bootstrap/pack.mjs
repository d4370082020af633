// `npm run pack [-- FOLDER]`: makes everything ready, then writes the packages of the command line program as tarballs.
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { npm, prepare, root } from './prepare.mjs';

await prepare();
const folder = path.resolve(process.argv[2] ?? 'packed');
mkdirSync(folder, { recursive: true });
const names = withItsPackages('@packhouse/cli');
const code = await npm([
  'pack',
  '--pack-destination',
  folder,
  '--loglevel=error',
  '--ignore-scripts',
  ...names.flatMap((name) => ['--workspace', name]),
]);
if (code === 0) process.stdout.write(`${folder} has ${names.length} packages: npm install ${folder}/*.tgz\n`);
process.exitCode = code;

/** A workspace and all workspaces that it needs, itself last. */
function withItsPackages(name, found = []) {
  // npm links each workspace into node_modules.
  const { dependencies = {} } = JSON.parse(readFileSync(`${root}node_modules/${name}/package.json`, 'utf8'));
  for (const each of Object.keys(dependencies)) {
    if (each.startsWith('@packhouse/') && !found.includes(each)) withItsPackages(each, found);
  }
  if (!found.includes(name)) found.push(name);
  return found;
}
