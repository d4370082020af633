import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const built = (file: string): string => fileURLToPath(new URL(`../../../${file}`, import.meta.url));

export interface ReplayProcess {
  url: string;
  first: number;
  last: number;
  stop(): Promise<void>;
}

/** Starts a replay node in a process of its own, so that it does not share a thread with what is measured. */
export async function startReplay(args: readonly string[]): Promise<ReplayProcess> {
  const child = spawn(process.execPath, [built('test/replay-node/dist/main.js'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const match = /^(\S+) serves blocks (\d+) to (\d+)$/.exec(line);
  if (match === null) throw new Error(`the replay node said: ${line}`);
  return {
    url: match[1] as string,
    first: Number(match[2]),
    last: Number(match[3]),
    stop: () => stop(child),
  };
}

export interface LocalRun {
  /** Seconds from the moment the processes were ready to the moment everything was published. */
  seconds: number;
  /** Bytes of all bundles. */
  bytes: number;
  /** The highest resident memory of each process, in bytes, by its name. */
  peakBytes: Record<string, number>;
  directory: string;
}

/** Runs `packhouse local --once` over a range, with everything embedded, and measures it from outside. */
export async function runLocal(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<LocalRun & { remove(): Promise<void> }> {
  const directory = await mkdtemp(path.join(tmpdir(), 'packhouse-bench-'));
  const child = spawn(
    process.execPath,
    [built('apps/cli/dist/main.js'), 'local', ...args, '--once', '--json', '--data-dir', directory],
    { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let readyAt = 0;
  let doneAt = 0;
  let bytes = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const event = JSON.parse(line) as { event: string; bytes?: number };
    if (event.event === 'ready') readyAt = performance.now();
    if (event.event === 'done') {
      doneAt = performance.now();
      bytes = event.bytes ?? 0;
    }
  });
  const peakBytes: Record<string, number> = {};
  const sampler = setInterval(() => samplePeaks(child.pid as number, peakBytes), 100);
  const [code] = (await once(child, 'close')) as [number | null];
  clearInterval(sampler);
  const remove = async (): Promise<void> => {
    const place = await readFile(path.join(directory, 'postgres', 'LOCATION'), 'utf8').catch(() => null);
    if (place !== null) await rm(place.trim(), { recursive: true, force: true });
    await rm(directory, { recursive: true, force: true });
  };
  if (code !== 0) throw new Error(`packhouse local ended with ${code}; its logs are in ${directory}/logs`);
  return { seconds: (doneAt - readyAt) / 1000, bytes, peakBytes, directory, remove };
}

/** Reads the peak resident memory of the children from /proc; on other systems nothing is known. */
function samplePeaks(parent: number, peaks: Record<string, number>): void {
  try {
    const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim().split(' ');
    for (const pid of children.filter((text) => text !== '')) {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      const name = /\/apps\/(\w+)\//.exec(command)?.[1];
      const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
      if (name !== undefined && peak !== undefined)
        peaks[name] = Math.max(peaks[name] ?? 0, Number(peak) * 1024);
    }
  } catch {
    // The process has just ended, or there is no /proc.
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'close');
}
