import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { processTree, readProcess, TICKS_A_SECOND } from '@packhouse/rig';

/** CPU seconds of all children of this process that have ended, and of theirs; undefined without /proc. */
export function endedChildrenSeconds(): number | undefined {
  return readProcess(process.pid)?.endedSeconds;
}

/** CPU seconds of a process and those below it; those of their ended children are left out. */
export function cpuOfTree(pid: number): number {
  return processTree(pid).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
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

/** How much of the machine others used: as cores, 0 to all of them, and as words for a note; none without /proc. */
interface Others {
  cores: number | undefined;
  words: string[];
}

/** Watches how much of the machine others use, until `end`. */
export function watchOthers(): { end(): Others } {
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
      if (busy === undefined || busyBefore === undefined) return { cores: undefined, words: [] };
      const others = (busy - busyBefore - (own() - ownBefore)) / seconds;
      const cores = Math.min(cpus().length, Math.max(0, others));
      return { cores, words: [`other programs took ${cores.toFixed(2)} cores meanwhile`] };
    },
  };
}
