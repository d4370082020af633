import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** The usage of a process so far. */
interface ProcessUse {
  pid: number;
  command: string;
  /** CPU seconds of the process itself. */
  cpuSeconds: number;
  /** CPU seconds of its ended children. */
  endedSeconds: number;
  /** Peak memory in bytes (VmHWM). */
  peakBytes: number;
}

/** Linux counts CPU time in hundredths of a second for programs, independent of its own clock. */
const TICKS_A_SECOND = 100;

/** The processes below `root` and itself, from /proc; empty on systems without it. */
export function processTree(root: number): ProcessUse[] {
  const parents = new Map<number, number>();
  try {
    for (const name of readdirSync('/proc')) {
      const pid = Number(name);
      if (Number.isInteger(pid)) parents.set(pid, Number(fieldsOfStat(pid)[1]));
    }
  } catch {
    return [];
  }
  const belongs = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 1; at = parents.get(at)) {
      if (at === root) return true;
    }
    return false;
  };
  return [...parents.keys()].filter(belongs).flatMap(readProcessUse);
}

/** CPU seconds of all children of this process that have ended, and of theirs; undefined without /proc. */
export function endedChildrenSeconds(): number | undefined {
  return readProcessUse(process.pid)[0]?.endedSeconds;
}

/** Seconds that all cores together were busy since the machine started; undefined without /proc. */
function busySeconds(): number | undefined {
  try {
    const [, ...ticks] = (readFileSync('/proc/stat', 'utf8').split('\n')[0] as string).split(/\s+/);
    const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = ticks.map(Number);
    return (user + nice + system + irq + softirq) / TICKS_A_SECOND;
  } catch {
    return undefined;
  }
}

/** Watches how much of the machine others use; `end` says so as cores, 0 to all of them, or undefined. */
export function watchOthers(): { end(): number | undefined } {
  const own = (): number =>
    processTree(process.pid).reduce(
      (sum, { cpuSeconds, endedSeconds }) => sum + cpuSeconds + endedSeconds,
      0,
    );
  const startedAt = performance.now();
  const [busyBefore, ownBefore] = [busySeconds(), own()];
  return {
    end() {
      const [busy, seconds] = [busySeconds(), (performance.now() - startedAt) / 1000];
      if (busy === undefined || busyBefore === undefined) return undefined;
      const others = (busy - busyBefore - (own() - ownBefore)) / seconds;
      return Math.min(cpus().length, Math.max(0, others));
    },
  };
}

/** The fields of /proc/<pid>/stat from the state on: a command may hold blanks and brackets. */
function fieldsOfStat(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    // It has just ended.
    return [];
  }
}

function readProcessUse(pid: number): ProcessUse[] {
  try {
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fieldsOfStat(pid)
      .slice(11, 15)
      .map(Number);
    const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return [
      {
        pid,
        command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim(),
        cpuSeconds: (user + system) / TICKS_A_SECOND,
        endedSeconds: (endedUser + endedSystem) / TICKS_A_SECOND,
        peakBytes: Number(peak ?? 0) * 1024,
      },
    ];
  } catch {
    return [];
  }
}
