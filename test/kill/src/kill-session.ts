import { realpathSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Access } from './gateway-client.js';
import { type LocalEvent, type LocalProcess, startLocal } from './local-process.js';
import type { PlannedKill } from './plan-kills.js';
import { ageMs, getParts, type Part, stillRuns } from './processes.js';

/** A kill that was made. */
export interface MadeKill {
  role: PlannedKill['role'];
  /** Milliseconds since the epoch. */
  at: number;
  pid: number;
  /** How old the process was, in milliseconds. */
  ageMs: number;
  /** Whether it was still starting: of the supervisor, whether not everything was ready since its start. */
  starting: boolean;
  /** What it called itself: of a backend, also what it was doing. */
  command: string;
  /** Of the supervisor: how it was started again. */
  restart?: PlannedKill['restart'];
}

/** A `packhouse local` that is started again whenever it ends. */
interface KillSession {
  start(): void;
  /** Waits for a process of that kind, kills it, and sees to what comes after. */
  kill(planned: PlannedKill): Promise<MadeKill>;
  /** The newest `progress` event of the whole session. */
  published(): number;
  /** Ends it as Ctrl-C does and returns the exit code. */
  stop(): Promise<number | string>;
  /** Whatever may still run is killed. */
  destroy(): void;
  /** All that was said so far where no key may be. */
  said(): string;
  starts(): number;
  violations: string[];
  /** Every process that was ever seen and still runs. */
  survivors(): Part[];
}

/** A process younger than this is starting; the supervisor says itself when it is not. */
const YOUNG_MS = 1_500;
/** A condition that has not come by then never comes, however slow the machine is. */
const PATIENCE_MS = 180_000;
const POLL_MS = 15;

/** Makes a session; nothing is started yet. */
export function createKillSession(request: {
  directory: string;
  args: readonly string[];
  env: Record<string, string>;
  onAccess(access: Access): void;
}): KillSession {
  const dataFolder = path.join(realpathSync(request.directory), 'postgres', 'data');
  const violations: string[] = [];
  const seen = new Map<string, Part>();
  const earlier: string[] = [];
  let current: LocalProcess | undefined;
  let published = 0;
  let starts = 0;
  let ready = false;
  /** Ends that we brought about ourselves are none of its own. */
  let expected = false;

  const look = (): Part[] => {
    const parts = current === undefined ? [] : getParts(current.pid, dataFolder);
    for (const part of parts) seen.set(`${part.pid} ${part.started}`, part);
    return parts;
  };

  const survivors = (): Part[] => {
    for (const [key, part] of seen) if (!stillRuns(part)) seen.delete(key);
    return [...seen.values()];
  };

  const onEvent = (event: LocalEvent): void => {
    if (event.event === 'ready') {
      ready = true;
      request.onAccess(event as unknown as Access);
    }
    if (event.event === 'progress') published = Math.max(published, event.published as number);
  };

  const start = (): void => {
    expected = false;
    ready = false;
    starts++;
    const process = startLocal(request.args, request.env, onEvent);
    current = process;
    void process.exit.then((code) => {
      earlier.push(process.said());
      if (expected || current !== process) return;
      violations.push(`packhouse local ended by itself with ${code}: ${process.said().slice(-600)}`);
      start();
    });
  };

  const until = async (what: string, condition: () => boolean): Promise<boolean> => {
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await delay(POLL_MS)) {
      if (condition()) return true;
    }
    violations.push(`${what}: not within ${PATIENCE_MS / 1_000} s`);
    return false;
  };

  const find = async ({ role, graceMs }: Pick<PlannedKill, 'role' | 'graceMs'>): Promise<Part> => {
    let found = look().filter((part) => part.role === role);
    if (found.length === 0) {
      if (
        !(await until(`a ${role} to be started again`, () => {
          found = look().filter((part) => part.role === role);
          return found.length > 0;
        }))
      )
        throw new Error(violations.at(-1));
      await delay(graceMs);
      found = look().filter((part) => part.role === role);
      // It ended in the meantime: the next one will do.
      if (found.length === 0) return find({ role, graceMs: 0 });
    }
    // Any of the backends; of the others there is one.
    return found[Math.floor((graceMs * found.length) / 500) % found.length] as Part;
  };

  return {
    violations,
    start,
    survivors,
    published: () => published,
    starts: () => starts,
    said: () => [...earlier, current?.said() ?? ''].join('\n'),
    async kill(planned) {
      for (;;) {
        const victim = await find(planned);
        if (planned.role === 'supervisor') expected = true;
        const age = ageMs(victim);
        try {
          process.kill(victim.pid, 'SIGKILL');
        } catch {
          expected = false;
          continue;
        }
        const made: MadeKill = {
          role: planned.role,
          at: Date.now(),
          pid: victim.pid,
          ageMs: Math.round(age),
          starting: planned.role === 'supervisor' ? !ready : age < YOUNG_MS,
          command: victim.command.slice(0, 90),
        };
        if (planned.role !== 'supervisor') return made;
        await current?.exit;
        look();
        if (planned.restart === 'after the orphans') {
          await until(
            'the orphans of a killed supervisor to end by themselves',
            () => survivors().length === 0,
          );
          for (const orphan of survivors()) {
            violations.push(`an orphan ${orphan.role} did not end by itself: ${orphan.command.slice(0, 90)}`);
          }
        }
        start();
        return { ...made, restart: planned.restart };
      }
    },
    async stop() {
      expected = true;
      current?.child.kill('SIGINT');
      return (await current?.exit) ?? 'nothing';
    },
    destroy() {
      expected = true;
      look();
      for (const part of survivors()) {
        try {
          process.kill(part.pid, 'SIGKILL');
        } catch {
          // Gone by itself.
        }
      }
    },
  };
}
