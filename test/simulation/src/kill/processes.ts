import { readFileSync } from 'node:fs';
import { listProcesses, type Process, readProcess, TICKS_A_SECOND } from '@packhouse/rig';
import type { Role } from './plan-kills.js';

/** A process of `packhouse local`. */
export interface Part extends Process {
  role: Role;
}

/** Whether this very process still runs. */
export function stillRuns({ pid, started }: Pick<Process, 'pid' | 'started'>): boolean {
  const now = readProcess(pid);
  return now?.started === started && !now.ended;
}

/** How long a process has been there, in milliseconds. */
export function ageMs({ started }: Process): number {
  const uptime = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
  return Math.max(0, (uptime - started / TICKS_A_SECOND) * 1_000);
}

/** The processes of a `packhouse local` that may be hit, by what they are. */
export function getParts(supervisor: number, postgresData: string): Part[] {
  const all = listProcesses().filter(({ ended }) => !ended);
  const servers = new Set(all.filter(({ folder }) => folder === postgresData).map(({ pid }) => pid));
  return all.flatMap((one) => {
    const role = getRole(one, supervisor, servers);
    return role === undefined ? [] : [{ ...one, role }];
  });
}

function getRole(
  { pid, parent, command }: Process,
  supervisor: number,
  servers: ReadonlySet<number>,
): Role | undefined {
  if (pid === supervisor) return 'supervisor';
  if (servers.has(pid)) return servers.has(parent) ? 'backend' : 'postmaster';
  if (parent !== supervisor) return undefined;
  return /apps\/(gateway|ingester|packer)\/dist\/main\.js/.exec(command)?.[1] as Role | undefined;
}

/** Processes that work in a folder or name it on their command line. */
export function processesAround(directory: string): Process[] {
  return listProcesses().filter(
    ({ pid, ended, folder, command }) =>
      pid !== process.pid &&
      !ended &&
      (folder === directory || folder.startsWith(`${directory}/`) || command.includes(directory)),
  );
}
