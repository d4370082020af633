import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { runSql, type Scope, startPostgres, temporaryDirectory } from '@packhouse/local';
import { processTree, startNode } from '@packhouse/rig';
import pg from 'pg';

/** Measurements of a run from outside. */
export interface LocalRun {
  /** From the moment all processes were ready to the last index row. */
  seconds: number;
  /** From the first staged block to the last index row. */
  steadySeconds: number;
  /** Bytes of all bundles. */
  bytes: number;
  /** Usage of each program between ready and done, by name; empty without /proc. */
  used: Record<string, { cpuSeconds: number; peakBytes: number }>;
}

interface LocalRunOptions {
  /** Added to this process's own environment. */
  env?: Record<string, string>;
  /** The absolute path of another clone of Packhouse whose build is to run; default: this one. */
  root?: string;
}

const LOOK_MS = 20;
const SAMPLE_MS = 200;

/**
 * Runs `packhouse local --once` over a range and measures it from outside.
 *
 * Postgres is the same embedded one, started here to query when the first block was staged and the last bundle
 * published; `local` polls only once a second.
 */
export async function runLocal(
  scope: Scope,
  args: readonly string[],
  { env = {}, root = '' }: LocalRunOptions = {},
): Promise<LocalRun> {
  const directory = await temporaryDirectory(scope, 'bench');
  const postgres = await startPostgres({ directory: path.join(directory, 'postgres') });
  scope.defer(() => postgres.stop());
  const program = startNode(
    scope,
    path.join(root, 'apps/cli/dist/main.js'),
    ['local', ...args, '--once', '--json', '--data-dir', path.join(directory, 'data')],
    { ...env, DATABASE_URL: postgres.url },
    { readStdout: false },
  );
  const uses = watchUses();
  let readyAt: number | undefined;
  let bytes = 0;
  let missing: unknown;
  const staging = watchStaging(postgres.url);
  createInterface({ input: program.child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    const event = JSON.parse(line) as { event: string; bytes?: number; missing?: unknown };
    if (event.event === 'ready') {
      readyAt = Date.now();
      uses.begin();
    }
    if (event.event === 'done') {
      bytes = event.bytes ?? 0;
      missing = event.missing;
      uses.end();
    }
    if (event.event === 'problem' || event.event === 'error') process.stderr.write(`  ${line}\n`);
  });
  try {
    const code = await program.exit;
    if (code !== 0)
      throw new Error(`packhouse local ended with ${code}; missing: ${JSON.stringify(missing)}`);
  } finally {
    uses.end();
    await staging.end();
  }
  const [last] = await runSql<{ at: Date }>(
    postgres.url,
    'SELECT max(published_at) AS at FROM packhouse.bundle',
  );
  const firstAt = staging.firstAt();
  if (readyAt === undefined || firstAt === undefined || last === undefined)
    throw new Error('nothing was staged');
  return {
    seconds: (last.at.getTime() - readyAt) / 1000,
    steadySeconds: (last.at.getTime() - firstAt) / 1000,
    bytes,
    used: uses.read(),
  };
}

/** Polls until a block is staged; the tables may not exist yet. */
function watchStaging(url: string): { firstAt(): number | undefined; end(): Promise<void> } {
  let firstAt: number | undefined;
  let ended = false;
  const pool = new pg.Pool({ connectionString: url, max: 1 }).on('error', () => undefined);
  const watching = (async () => {
    while (!ended && firstAt === undefined) {
      const found = await pool
        .query('SELECT 1 FROM packhouse.staged_block LIMIT 1')
        .catch(() => ({ rowCount: 0 }));
      if ((found.rowCount ?? 0) > 0) firstAt = Date.now();
      else await sleep(LOOK_MS);
    }
    await pool.end();
  })();
  watching.catch(() => undefined);
  return {
    firstAt: () => firstAt,
    async end() {
      ended = true;
      await watching;
    },
  };
}

/** Follows what each program of this process's tree uses: CPU between `begin` and `end`, memory at its highest. */
function watchUses(): { begin(): void; end(): void; read(): LocalRun['used'] } {
  const peaks: Record<string, number> = {};
  const spentBefore: Record<string, number> = {};
  const spent: Record<string, number> = {};
  let timer: NodeJS.Timeout | undefined;
  const sample = (): void => {
    const now: Record<string, number> = {};
    for (const { command, cpuSeconds, endedSeconds, peakBytes } of processTree(process.pid)) {
      const name = getProgram(command);
      if (name === undefined) continue;
      // Postgres works in short-lived child processes.
      now[name] = (now[name] ?? 0) + cpuSeconds + (name === 'postgres' ? endedSeconds : 0);
      peaks[name] = Math.max(peaks[name] ?? 0, peakBytes);
    }
    // The process has just ended.
    for (const [name, seconds] of Object.entries(now)) spent[name] = Math.max(spent[name] ?? 0, seconds);
  };
  return {
    begin() {
      sample();
      Object.assign(spentBefore, spent);
      timer = setInterval(sample, SAMPLE_MS);
    },
    end() {
      if (timer === undefined) return;
      sample();
      clearInterval(timer);
      timer = undefined;
    },
    read: () =>
      Object.fromEntries(
        Object.entries(peaks).map(([name, peakBytes]) => [
          name,
          { cpuSeconds: (spent[name] ?? 0) - (spentBefore[name] ?? 0), peakBytes },
        ]),
      ),
  };
}

/** The name of a program of Packhouse by its command line. */
function getProgram(command: string): string | undefined {
  if (/\bpostgres\b/.test(command) && !command.includes('node ')) return 'postgres';
  if (/(replay-node\/dist\/main|bench\/dist\/tiny-node)\.js/.test(command)) return 'node';
  return /\/apps\/(\w+)\//.exec(command)?.[1];
}
