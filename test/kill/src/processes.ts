import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Role } from './plan-kills.js';

/** A process, told from a later one of the same number by when it started. */
interface ProcessInfo {
  pid: number;
  parent: number;
  /** Clock ticks between the machine's start and its own. */
  started: number;
  command: string;
  /** Its working folder; empty where that may not be read. */
  folder: string;
}

/** A process of `packhouse local`. */
export interface Part extends ProcessInfo {
  role: Role;
}

/** Linux tells times of processes in hundredths of a second, whatever its own clock is. */
const TICKS_A_SECOND = 100;

/** All processes that run; those that have ended and were not yet waited for are none. */
function allProcesses(): ProcessInfo[] {
  return readdirSync('/proc').flatMap((name) => {
    const found = /^\d+$/.test(name) ? readProcess(Number(name)) : null;
    return found === null ? [] : [found];
  });
}

/** Whether this very process still runs. */
export function stillRuns({ pid, started }: Pick<ProcessInfo, 'pid' | 'started'>): boolean {
  return readProcess(pid)?.started === started;
}

/** How long a process has been there, in milliseconds. */
export function ageMs({ started }: ProcessInfo): number {
  const uptime = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
  return Math.max(0, (uptime - started / TICKS_A_SECOND) * 1_000);
}

/** The processes of a `packhouse local` that may be hit, by what they are. */
export function getParts(supervisor: number, postgresData: string): Part[] {
  const all = allProcesses();
  const parts: Part[] = [];
  for (const one of all) {
    if (one.pid === supervisor) parts.push({ ...one, role: 'supervisor' });
    const app = /apps\/(gateway|ingester|packer)\/dist\/main\.js/.exec(one.command)?.[1];
    if (app !== undefined && one.parent === supervisor) parts.push({ ...one, role: app as Role });
  }
  const servers = all.filter((one) => one.folder === postgresData);
  for (const one of servers) {
    const isChild = servers.some((other) => other.pid === one.parent);
    parts.push({ ...one, role: isChild ? 'backend' : 'postmaster' });
  }
  return parts;
}

/** Processes that work in a folder or name it on their command line. */
export function processesAround(directory: string): ProcessInfo[] {
  return allProcesses().filter(
    (one) =>
      one.pid !== process.pid &&
      (one.folder === directory || one.folder.startsWith(`${directory}/`) || one.command.includes(directory)),
  );
}

function readProcess(pid: number): ProcessInfo | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // A command may hold blanks and brackets: the fields begin behind its last bracket.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    let folder = '';
    try {
      folder = readlinkSync(`/proc/${pid}/cwd`);
    } catch {
      // Somebody else's, or just gone.
    }
    return { pid, parent: Number(fields[1]), started: Number(fields[19]), command, folder };
  } catch {
    return null;
  }
}
