import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The most memory that each process was seen with. */
export interface MemorySamples {
  /** Resident bytes by process name. */
  most(): ReadonlyMap<string, number>;
  count(): number;
  stop(): void;
}

const EVERY_MS = 1_000;

/** Looks at the resident memory of these processes, over and over. */
export function sampleMemory(pids: () => ReadonlyMap<string, number>): MemorySamples {
  const most = new Map<string, number>();
  let count = 0;
  const timer = setInterval(() => void look().catch(() => undefined), EVERY_MS);
  const look = async (): Promise<void> => {
    const names = new Map([...pids()].map(([name, pid]) => [pid, name]));
    const { stdout } = await run('ps', ['-A', '-o', 'pid=,rss=']);
    for (const [, pid, kilobytes] of stdout.matchAll(/^\s*(\d+)\s+(\d+)$/gm)) {
      const name = names.get(Number(pid));
      if (name === undefined) continue;
      count += 1;
      most.set(name, Math.max(most.get(name) ?? 0, Number(kilobytes) * 1_024));
    }
  };
  return { most: () => most, count: () => count, stop: () => clearInterval(timer) };
}
