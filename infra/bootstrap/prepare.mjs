import { spawn } from 'node:child_process';
import {
  accessSync,
  existsSync,
  constants as files,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { constants, homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { notePagesBuilt, pagesAreBuilt } from './build-pages.mjs';

/** The folder of the repository. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

const MIN_NODE = [20, 15];

/**
 * Makes the repository ready to run: the right Node, dependencies as package-lock.json says, everything compiled.
 *
 * All output goes to stderr: stdout belongs to the program that follows. Ends the process with one sentence if
 * something cannot be done.
 */
export async function prepare() {
  checkNode();
  if (!isInstalled()) await install();
  await build();
  await buildPages();
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1])) return;
  giveUp(
    `Packhouse needs Node ${MIN_NODE.join('.')} or later, this is ${process.versions.node}. Install it from https://nodejs.org.`,
  );
}

/** Whether node_modules holds what the lock file names: npm writes down what it installed, as its last act. */
function isInstalled() {
  const wanted = packagesOf('package-lock.json');
  const present = packagesOf('node_modules/.package-lock.json');
  if (wanted === undefined) giveUp('package-lock.json is missing or broken. Restore it with git.');
  if (present === undefined) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '' || (!path.startsWith('node_modules/') && !path.includes('/node_modules/'))) return true;
    const there = present[path];
    // Parts for other machines are optional and absent.
    if (there === undefined) return entry.optional === true || entry.devOptional === true;
    const same =
      there.version === entry.version &&
      (there.integrity ?? entry.integrity) === (entry.integrity ?? there.integrity);
    return same && existsSync(`${root}${path}`);
  });
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(`${root}${file}`, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

async function install() {
  say('Installing dependencies (on the first start, and when they change) …');
  const args = ['ci', '--include=dev', '--loglevel=error', '--no-audit', '--no-fund'];
  const code = await withTime('Installing dependencies', () =>
    withCache((cache) => npm([...args, ...cache])),
  );
  if (code !== 0)
    giveUp('Could not install the dependencies. See the error above; is the npm registry reachable?');
}

/** Calls with the options for npm's cache: none, or a temporary folder if npm's own cannot be written. */
async function withCache(run) {
  if (canWrite(process.env.npm_config_cache || path.join(homedir(), '.npm'))) return run([]);
  const folder = mkdtempSync(path.join(tmpdir(), 'packhouse-npm-'));
  try {
    return await run(['--cache', folder]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function canWrite(folder) {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, files.W_OK);
    return true;
  } catch {
    return false;
  }
}

async function build() {
  const compiler = `${root}node_modules/typescript/bin/tsc`;
  if (!live && !existsSync(`${root}packages/runtime/dist`)) say('Building …');
  // The compiler may go on reporting what a dependency has put right since: only a build from nothing has the last word.
  const once = () => runChild(process.execPath, [compiler, '-b'], 'ignore');
  if ((await withTime('Building', once)) === 0) return;
  const again = () => run(process.execPath, [compiler, '-b', '--force']);
  if ((await withTime('Building', again)) !== 0) giveUp('The build failed. See the errors above.');
}

async function buildPages() {
  if (pagesAreBuilt()) return;
  const args = [
    `${root}node_modules/vite/bin/vite.js`,
    'build',
    '--config',
    `${root}apps/console/vite.config.ts`,
  ];
  const once = () => run(process.execPath, [...args, '--logLevel', 'error']);
  if ((await withTime('Building the console', once)) !== 0)
    giveUp('Could not build the pages of the console. See the errors above.');
  notePagesBuilt();
}

/** On a terminal the duration of a step is one line that is rewritten every second. */
const live = process.stderr.isTTY === true;

/** Runs a step and tells its duration, in place on a terminal, elsewhere on a line every ten seconds. */
export async function withTime(what, step, { everyMs = live ? 1_000 : 10_000, tell = tellTime } = {}) {
  const startedAt = performance.now();
  const telling = setInterval(() => {
    tell(`${what} … ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  }, everyMs);
  try {
    return await step();
  } finally {
    clearInterval(telling);
    if (live) process.stderr.write('\r\x1b[K');
  }
}

function tellTime(text) {
  process.stderr.write(live ? `\r\x1b[K${text}` : `${text}\n`);
}

/** Runs npm in the repository, the one that runs this or the one on PATH; resolves to its exit code. */
export function npm(args) {
  const path = process.env.npm_execpath;
  if (path?.endsWith('.js')) return run(process.execPath, [path, ...args]);
  return run(process.platform === 'win32' ? 'npm.cmd' : 'npm', args);
}

/** Runs a command with its output on stderr, passes signals on, resolves to its exit code. */
function run(command, args) {
  return runChild(command, args, ['ignore', 2, 2]);
}

/** Runs a command, passes SIGTERM and SIGHUP on (a terminal sends SIGINT to both by itself), resolves to its exit code. */
export function runChild(command, args, stdio = 'inherit', env = process.env) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio, env });
    let stopped;
    const stop = (signal) => {
      stopped = signal;
      if (signal !== 'SIGINT') child.kill(signal);
    };
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    for (const signal of signals) process.on(signal, stop);
    const end = (code) => {
      for (const signal of signals) process.off(signal, stop);
      if (stopped !== undefined && stdio !== 'inherit') process.exit(128 + constants.signals[stopped]);
      resolve(code);
    };
    child.on('error', (error) => {
      say(`Could not start ${command}: ${error.message}`);
      end(1);
    });
    child.on('exit', (code, signal) => end(code ?? 128 + constants.signals[signal]));
  });
}

/** npm that is killed passes no signal on: without it, what it started would run on unseen. */
export function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 500);
  watch.unref();
}

function say(text) {
  process.stderr.write(`${text}\n`);
}

function giveUp(text) {
  say(text);
  process.exit(1);
}
