import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** What stands for a start that the system does not tell. */
const UNKNOWN = 'unknown';

/**
 * When a process started, as text that tells it from any other process that has or had its number; null where none of
 * that number runs. One that has ended and was not waited for yet (a zombie) does not run.
 */
export function processStart(pid: number): string | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null;
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
}

function fromProc(pid: number): string | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    // Some systems hide other people's processes.
    return mayBeThere(pid) ? UNKNOWN : null;
  }
  // A command may hold blanks and brackets: the fields begin behind its last bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return null;
  return `${bootId()}/${fields[19]}`;
}

/** Ticks are counted from the machine's start: after another one the same count is another moment. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return UNKNOWN;
  }
}

function fromPs(pid: number): string | null {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    }).trim();
    const [state = '', ...start] = line.split(/\s+/);
    return state === '' || state.startsWith('Z') ? null : start.join('-');
  } catch {
    return null;
  }
}

function mayBeThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
