import { mkdtemp, readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Scope, temporaryDirectory } from '@packhouse/local';
import { type ReplayProcess, startNode } from '@packhouse/rig';
import { endedChildrenSeconds } from './processes.js';

/** What evm-dump proves of a block: nothing; hash, roots and bloom; these and the sender of each transaction. */
export const DUMP_CHECKS = ['none', 'roots', 'all'] as const;
export type DumpChecks = (typeof DUMP_CHECKS)[number];

/** A run, without the start of the program, which `--help` takes too. */
export interface DumpRun {
  seconds: number;
  /** Undefined without /proc. */
  cpuSeconds: number | undefined;
  /** In its files: versions differ in whether they write the last ones of a range that is no multiple of ten. */
  blocks: number;
  /** Of all its files. */
  bytes: number;
}

interface DumpOptions {
  /** Its program, bin/run.js of the package, or a link to that. */
  program: string;
  node: ReplayProcess;
  checks: DumpChecks;
  /** It retries without end, so it is stopped after this time, in milliseconds. */
  limitMs: number;
}

/** What Packhouse fetches too. Sources of the names of options: evm-dump's src/dumper.ts and its dump-cli. */
const FETCHED = ['--with-receipts', '--with-traces', '--use-trace-api'];
/** Checks that newer versions make unless told otherwise. */
const SKIPS = ['--skip-log-index-check', '--skip-cumulative-gas-used-check'];
const TAIL = 2_000;

/**
 * Runs subsquid's evm-dump over all blocks of a node, into a local folder.
 *
 * Which checks there are differs between versions: those that its help names are taken.
 *
 * @throws Error if it fails, does not end in time, lacks an option, or wrote other blocks.
 */
export async function runEvmDump(
  scope: Scope,
  { program, node, checks, limitMs }: DumpOptions,
): Promise<DumpRun> {
  const file = await realpath(program);
  const folder = await mkdtemp(path.join(await temporaryDirectory(scope, 'bench'), 'dump-'));
  const start = await measured(scope, file, ['--help'], limitMs);
  const range = ['--first-block', String(node.first), '--last-block', String(node.last)];
  const run = await measured(
    scope,
    file,
    ['--endpoint', node.url, '--dest', folder, ...range, ...FETCHED, ...getChecks(start.text, checks)],
    limitMs,
  );
  const written = await writtenIn(folder);
  const wanted = node.last - node.first + 1;
  if (written.blocks <= wanted - 10 || written.blocks > wanted) {
    throw new Error(`evm-dump wrote ${written.blocks} of ${wanted} blocks: ${run.text.slice(-TAIL)}`);
  }
  return {
    ...written,
    seconds: run.seconds - start.seconds,
    cpuSeconds:
      run.cpuSeconds === undefined || start.cpuSeconds === undefined
        ? undefined
        : run.cpuSeconds - start.cpuSeconds,
  };
}

/** The options for `checks`, of those that a help names. Throws if what is fetched is not among them. */
function getChecks(help: string, checks: DumpChecks): string[] {
  const known = new Set(help.match(/--[a-z][a-z-]+/g));
  const missing = FETCHED.filter((option) => !known.has(option));
  if (missing.length > 0) throw new Error(`evm-dump's --help does not name ${missing.join(', ')}: ${help}`);
  if (checks === 'none') return SKIPS.filter((option) => known.has(option));
  const verify = [...known].filter((option) => option.startsWith('--verify-'));
  return checks === 'all' ? verify : verify.filter((option) => option !== '--verify-tx-sender');
}

async function measured(
  scope: Scope,
  file: string,
  args: readonly string[],
  limitMs: number,
): Promise<{ seconds: number; cpuSeconds: number | undefined; text: string }> {
  const [startedAt, before] = [performance.now(), endedChildrenSeconds()];
  const program = startNode(scope, file, args);
  const late = setTimeout(() => program.child.kill('SIGKILL'), limitMs);
  const code = await program.exit;
  clearTimeout(late);
  const text = program.log();
  if (code !== 0) {
    const how = typeof code === 'string' ? `was stopped after ${limitMs / 1000} s` : `ended with ${code}`;
    throw new Error(`evm-dump ${how}: ${text.slice(-TAIL)}`);
  }
  const after = endedChildrenSeconds();
  return {
    seconds: (performance.now() - startedAt) / 1000,
    cpuSeconds: before === undefined || after === undefined ? undefined : after - before,
    text,
  };
}

/** The name of a folder of blocks: first, last, beginning of a hash. */
const CHUNK = /^(\d+)-(\d+)-[0-9a-f]+$/;

async function writtenIn(folder: string): Promise<{ blocks: number; bytes: number }> {
  let [blocks, bytes] = [0, 0];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const [, first, last] = CHUNK.exec(entry.name) ?? [];
    if (entry.isDirectory() && first !== undefined) blocks += Number(last) - Number(first) + 1;
    if (entry.isFile()) bytes += (await stat(path.join(entry.parentPath, entry.name))).size;
  }
  return { blocks, bytes };
}
