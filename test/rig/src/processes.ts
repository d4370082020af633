import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A process as Linux shows it in /proc; what is not read at once is read when it is asked for. */
export interface Process {
  pid: number;
  parent: number;
  /** Clock ticks between the machine's start and its own: tells it from a later one of the same number. */
  started: number;
  /** Whether it has ended and was not yet waited for. */
  ended: boolean;
  /** CPU seconds of the process itself. */
  cpuSeconds: number;
  /** CPU seconds of its ended children. */
  endedSeconds: number;
  readonly command: string;
  /** Its working folder; empty where that may not be read. */
  readonly folder: string;
  /** Memory in bytes (VmRSS). */
  readonly bytes: number;
  /** Peak memory in bytes (VmHWM). */
  readonly peakBytes: number;
}

/** Linux counts times of processes in hundredths of a second, whatever its own clock is. */
export const TICKS_A_SECOND = 100;

/** All processes; none on systems without /proc. */
export function listProcesses(): Process[] {
  try {
    return readdirSync('/proc').flatMap((name) => {
      const found = /^\d+$/.test(name) ? readProcess(Number(name)) : undefined;
      return found === undefined ? [] : [found];
    });
  } catch {
    return [];
  }
}

/** The processes below `root` and itself; none on systems without /proc. */
export function processTree(root: number): Process[] {
  const all = new Map(listProcesses().map((each) => [each.pid, each]));
  const belongs = ({ pid }: Process): boolean => {
    for (let at = all.get(pid); at !== undefined; at = all.get(at.parent)) if (at.pid === root) return true;
    return false;
  };
  return [...all.values()].filter(belongs);
}

/** One process; undefined if it does not run, and on systems without /proc. */
export function readProcess(pid: number): Process | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === '') return undefined;
  // A command may hold blanks and brackets: the fields begin behind its last bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15).map(Number);
  const status = (name: string): number => {
    const found = new RegExp(`${name}:\\s+(\\d+) kB`).exec(read(`/proc/${pid}/status`));
    return Number(found?.[1] ?? 0) * 1_024;
  };
  return {
    pid,
    parent: Number(fields[1]),
    started: Number(fields[19]),
    ended: fields[0] === 'Z' || fields[0] === 'X',
    cpuSeconds: (user + system) / TICKS_A_SECOND,
    endedSeconds: (endedUser + endedSystem) / TICKS_A_SECOND,
    get command() {
      return read(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    },
    get folder() {
      try {
        return readlinkSync(`/proc/${pid}/cwd`);
      } catch {
        // Somebody else's, or just gone.
        return '';
      }
    },
    get bytes() {
      return status('VmRSS');
    },
    get peakBytes() {
      return status('VmHWM');
    },
  };
}

/** An empty text if it has just ended. */
function read(file: string, encoding: BufferEncoding = 'latin1'): string {
  try {
    return readFileSync(file, encoding);
  } catch {
    return '';
  }
}
