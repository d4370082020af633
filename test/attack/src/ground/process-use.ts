import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';

/** Linux counts CPU time in hundredths of a second for programs, whatever its own clock is. */
const TICKS_A_SECOND = 100;

/** Memory of a process now, in bytes (VmRSS), and at its highest since `forgetPeak` or its start (VmHWM). */
export function getMemory(pid: number): { now: number; peak: number } {
  const text = readFileSync(`/proc/${pid}/status`, 'latin1');
  const of = (name: string): number =>
    Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(text)?.[1] ?? 0) * 1_024;
  return { now: of('VmRSS'), peak: of('VmHWM') };
}

/** From now on the highest memory of a process is that of the time that follows. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** CPU seconds that a process has used, those of its ended children included. */
export function getCpuSeconds(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // A command may hold blanks and brackets: the fields begin behind its last bracket.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_A_SECOND;
}

/** The processes that work in a folder; those whose folder may not be read are none. */
export function processesIn(folder: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) && readlinkSync(`/proc/${name}/cwd`) === folder ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}
