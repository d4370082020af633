// `npm run pack [-- FOLDER --only NAMES --repository URL]`: builds everything, then writes packages as tarballs.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { npm, prepare, root } from './prepare.mjs';

const HELP = `Builds everything, then writes the packages as tarballs, to install or to publish.

  npm run pack [-- FOLDER --only NAMES --repository URL]

  FOLDER            where to write them (default: packed)
  --only NAMES      comma-separated packages, without @packhouse/, and what they need (default: all)
  --repository URL  noted in each package; npm demands it for a provenance statement
`;

const SCOPE = '@packhouse/';
/** Folders of workspaces that are published. */
const PUBLISHED = /^(apps|packages|infra)\//;
/** What only this repository can use. */
const NOT_PUBLISHED = ['devDependencies', 'scripts'];

const { values, positionals } = readArguments();
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const workspaces = readWorkspaces();
const names = values.only === undefined ? [...workspaces.keys()] : withTheirPackages(values.only.split(','));
await prepare();
const folder = path.resolve(positionals[0] ?? 'packed');
mkdirSync(folder, { recursive: true });
const staged = mkdtempSync(path.join(tmpdir(), 'packhouse-pack-'));
const options = ['--pack-destination', folder, '--loglevel=error', '--ignore-scripts'];
process.exitCode = await npm(['pack', ...options, ...names.map(stage)]);
rmSync(staged, { recursive: true });
if (process.exitCode === 0)
  process.stdout.write(`${folder} has ${names.length} packages: npm install ${folder}/*.tgz\n`);

/** The folder of each published package, by its name. */
function readWorkspaces() {
  const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8'));
  return new Map(
    Object.entries(packages)
      .filter(([, { link, resolved }]) => link === true && PUBLISHED.test(resolved))
      .map(([at, { resolved }]) => [at.slice('node_modules/'.length), resolved]),
  );
}

/** Packages by their short names, and all that they need. */
function withTheirPackages(wanted, found = new Set()) {
  for (const name of wanted.map((each) => `${SCOPE}${each}`)) {
    if (!workspaces.has(name))
      giveUp(`There is no package ${name}. There are: ${[...workspaces.keys()].join(', ')}.`);
    if (found.has(name)) continue;
    found.add(name);
    const needed = Object.keys(readManifest(name).dependencies ?? {}).filter((each) =>
      each.startsWith(SCOPE),
    );
    withTheirPackages(
      needed.map((each) => each.slice(SCOPE.length)),
      found,
    );
  }
  return [...found];
}

function readManifest(name) {
  return JSON.parse(readFileSync(`${root}${workspaces.get(name)}/package.json`, 'utf8'));
}

/** Copies what a package publishes into a folder of its own, and returns that. */
function stage(name) {
  const from = `${root}${workspaces.get(name)}`;
  const to = path.join(staged, name.slice(SCOPE.length));
  const manifest = readManifest(name);
  for (const key of NOT_PUBLISHED) delete manifest[key];
  // The sources stay here, and what only tests enter.
  delete manifest.exports['./testing/*.js'];
  for (const door of Object.values(manifest.exports)) delete door['@packhouse/source'];
  if (values.repository !== undefined) {
    manifest.repository = { type: 'git', url: values.repository, directory: workspaces.get(name) };
  }
  for (const part of ['README.md', ...manifest.files]) {
    // The examples of settings are those of the root.
    const at = existsSync(path.join(from, part)) ? from : root;
    cpSync(path.join(at, part), path.join(to, part), {
      recursive: true,
      dereference: true,
      filter: (file) => isPublished(from, file),
    });
  }
  cpSync(`${root}LICENSE`, path.join(to, 'LICENSE'));
  writeFileSync(path.join(to, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  return to;
}

/** Whether a file is for users, and not left by a build of sources that are gone. */
function isPublished(from, file) {
  const inside = path.relative(from, file);
  const compiled = /^dist\/(?!web\/)(.+?)(\.d\.ts|\.js)$/.exec(inside);
  if (compiled !== null) return existsSync(path.join(from, 'src', `${compiled[1]}.ts`));
  return !/^dist\/(.*\/)?testing$|\.map$|\.tsbuildinfo$|^dist\/web\/sources\.txt$/.test(inside);
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        only: { type: 'string' },
        repository: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    return giveUp(error.message);
  }
}

function giveUp(text) {
  process.stderr.write(`${text}\n`);
  process.exit(64);
}
