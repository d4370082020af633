import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

interface ChildInfo {
  pid: number;
  command: string;
  /** Resolves when the process has ended. */
  gone(): Promise<void>;
}

/** The direct children of a process. */
export async function getChildren(pid: number): Promise<ChildInfo[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,args=']);
  return stdout
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => match !== null && Number(match[2]) === pid)
    .map((match) => {
      const child = Number(match?.[1]);
      return { pid: child, command: match?.[3] ?? '', gone: () => goneProcess(child) };
    });
}

/** Polls until no process has this number (a condition, bounded by the test's own time). */
async function goneProcess(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 20));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
