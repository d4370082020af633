import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The start of a process, if the system does not tell it. */
const UNKNOWN = 'unknown';

/**
 * When a process started, as text that differs for every process that has or had its number; null if no process of that
 * number runs. A zombie (ended, but not waited for yet) does not run.
 */
export function processStart(pid: number): string | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null;
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
}

/** Whether a process of this number runs, of any owner. */
export function isAlive(pid: number): boolean {
  return processStart(pid) !== null;
}

function fromProc(pid: number): string | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    // Some systems hide other people's processes.
    return mayBeThere(pid) ? UNKNOWN : null;
  }
  // A command may contain blanks and brackets: the fields begin after its last bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return null;
  return `${bootId()}/${fields[19]}`;
}

/** Ticks are counted from the boot of the machine, so the same count after another boot is another moment. */
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
