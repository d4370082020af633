import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProcessMessage } from '@packhouse/runtime';
import type { Role, Who } from '../schedule/action.js';

/** A process that ended though nobody told it to, after it had been ready. */
interface Crash {
  process: string;
  outcome: string;
  lastWords: string;
}

/** The processes of the system; whatever ends is started again, as any supervisor would. */
export interface Fleet {
  names(): string[];
  /** The process that is meant. */
  toName(who: Who): string;
  pids(): ReadonlyMap<string, number>;
  /** Resolves when all are ready. */
  ready(): Promise<void>;
  /** SIGKILL, at once; false if it does not run at the moment. */
  kill(name: string): boolean;
  /** SIGSTOP, and SIGCONT after so many milliseconds. */
  pause(name: string, ms: number): void;
  /** SIGTERM; resolves when it is gone, with how it ended. */
  terminate(name: string): Promise<{ outcome: string; ms: number }>;
  /** Terminates and starts all workers, one after the other, with another number of each. */
  roll(counts: { ingester: number; packer: number }): Promise<void>;
  crashes(): readonly Crash[];
  /** Drains that took longer than they may, or were not clean. */
  drains(): readonly { process: string; outcome: string; ms: number }[];
  /** All that the processes said to their supervisor. */
  said(): readonly string[];
  stop(): Promise<void>;
}

/** Draining may take 30 s; a process that is still there after that is killed. */
const DRAIN_MS = 35_000;
const RESTART_MS = 200;
const MAX_RESTART_MS = 2_000;

interface Member {
  name: string;
  child: ChildProcess | undefined;
  up: boolean;
  /** What ends next is meant to. */
  told: boolean;
  /** By SIGKILL: if it drains, it cannot end that. */
  killed: boolean;
  /** It is not started again. */
  leaving: boolean;
  pauseMs: number;
  restart: NodeJS.Timeout | undefined;
  /** Its end, once it was told. */
  ending: Promise<{ outcome: string; ms: number }> | undefined;
}

/** Makes the fleet; `environment` gives the whole environment of one of its processes. */
export function createFleet(options: {
  counts: Record<Role, number>;
  logs: string;
  environment: (name: string, role: Role) => Record<string, string>;
}): Fleet {
  const members = new Map<string, Member>();
  const crashes: Crash[] = [];
  const drains: { process: string; outcome: string; ms: number }[] = [];
  const said: string[] = [];
  const resuming = new Set<NodeJS.Timeout>();
  const waiting = new Set<() => void>();
  let stopping = false;
  const wakeAll = (): void => {
    for (const wake of [...waiting]) wake();
  };
  const getRole = (name: string): Role => name.split('-')[0] as Role;

  const launch = (member: Member): void => {
    const { name } = member;
    const role = getRole(name);
    const main = fileURLToPath(new URL(`../../../../apps/${role}/dist/main.js`, import.meta.url));
    const log = openSync(path.join(options.logs, `${name}.log`), 'a');
    const child = fork(main, {
      env: options.environment(name, role),
      execArgv: [],
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    let lastWords = '';
    member.child = child;
    member.up = false;
    member.told = false;
    member.killed = false;
    child.on('error', () => undefined);
    child.on('message', (message: ProcessMessage) => {
      if ('message' in message) said.push(`${name}: ${message.type} ${message.code} ${message.message}`);
      if (message.type === 'fatal') lastWords = message.message;
      if (message.type !== 'ready') return;
      member.up = true;
      member.pauseMs = RESTART_MS;
      wakeAll();
    });
    child.on('exit', (code, signal) => {
      const outcome = signal ?? `code ${code}`;
      if (member.up && !member.told) crashes.push({ process: name, outcome, lastWords });
      member.child = undefined;
      member.up = false;
      wakeAll();
      if (stopping || member.leaving) return;
      member.restart = setTimeout(() => launch(member), member.pauseMs);
      member.pauseMs = Math.min(MAX_RESTART_MS, member.pauseMs * 2);
    });
  };
  const add = (name: string): void => {
    const member: Member = {
      name,
      child: undefined,
      up: false,
      told: false,
      killed: false,
      leaving: false,
      pauseMs: RESTART_MS,
      restart: undefined,
      ending: undefined,
    };
    members.set(name, member);
    launch(member);
  };
  const until = (condition: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!condition()) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  const inOrder = (): string[] => [...members.keys()].sort();
  const ready = (): Promise<void> => until(() => [...members.values()].every(({ up }) => up));

  // A second SIGTERM ends a process that drains at once, as an operator who is out of patience wants it: a supervisor
  // sends one.
  const terminate = (name: string): Promise<{ outcome: string; ms: number }> => {
    const member = members.get(name);
    const child = member?.child;
    if (member === undefined || child === undefined)
      return Promise.resolve({ outcome: 'not running', ms: 0 });
    member.ending ??= drain(member, child).finally(() => {
      member.ending = undefined;
    });
    return member.ending;
  };
  const drain = async (member: Member, child: ChildProcess): Promise<{ outcome: string; ms: number }> => {
    const wasUp = member.up;
    const begun = Date.now();
    member.told = true;
    const ended = new Promise<string>((resolve) => {
      child.once('exit', (code, signal) => resolve(signal ?? `code ${code}`));
    });
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), DRAIN_MS);
    const outcome = await ended;
    clearTimeout(late);
    const drained = { process: member.name, outcome, ms: Date.now() - begun };
    // Before it is ready there is nobody yet who would listen to SIGTERM.
    if (wasUp && !member.killed && outcome !== 'code 0') drains.push(drained);
    return drained;
  };

  for (const [role, count] of Object.entries(options.counts))
    for (let index = 1; index <= count; index++) add(`${role}-${index}`);

  return {
    names: inOrder,
    toName({ role, index }) {
      const names = inOrder().filter((name) => getRole(name) === role);
      return names[index % names.length] as string;
    },
    pids: () =>
      new Map([...members.values()].flatMap(({ name, child }) => (child?.pid ? [[name, child.pid]] : []))),
    ready,
    kill(name) {
      const member = members.get(name);
      if (member?.child === undefined) return false;
      member.told = true;
      member.killed = true;
      return member.child.kill('SIGKILL');
    },
    pause(name, ms) {
      const child = members.get(name)?.child;
      if (child === undefined || !child.kill('SIGSTOP')) return;
      const timer = setTimeout(() => {
        resuming.delete(timer);
        child.kill('SIGCONT');
      }, ms);
      resuming.add(timer);
    },
    terminate,
    async roll(counts) {
      for (const role of ['ingester', 'packer'] as const) {
        for (let index = 1; index <= 4; index++) {
          const name = `${role}-${index}`;
          const member = members.get(name);
          if (index > counts[role]) {
            if (member === undefined) continue;
            member.leaving = true;
            clearTimeout(member.restart);
            await terminate(name);
            members.delete(name);
          } else if (member === undefined) add(name);
          else await terminate(name);
        }
      }
    },
    crashes: () => crashes,
    drains: () => drains,
    said: () => said,
    async stop() {
      stopping = true;
      for (const timer of resuming) clearTimeout(timer);
      for (const { restart, child } of members.values()) {
        clearTimeout(restart);
        child?.kill('SIGCONT');
      }
      await Promise.all(inOrder().map(terminate));
    },
  };
}
