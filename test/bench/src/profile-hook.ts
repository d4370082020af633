/**
 * Loaded by `--import` into each program of a run: in those that PACKHOUSE_PROFILE names it samples the main thread and
 * all threads, and writes `<program>-<pid>-<main|thread-N>.cpuprofile` into the folder PACKHOUSE_PROFILES when they end.
 */
import { writeFileSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import workerThreads, {
  BroadcastChannel,
  isMainThread,
  threadId,
  type WorkerOptions,
} from 'node:worker_threads';

const INTERVAL_US = 500;
/** Threads hear on it that they are about to be ended, and which profiles are written. */
const CHANNEL = 'packhouse profiles';
const END_MS = 10_000;

const { PACKHOUSE_PROFILE = '', PACKHOUSE_PROFILES: folder = '' } = process.env;
const program = isMainThread ? /\/apps\/(\w+)\/dist\//.exec(process.argv[1] ?? '')?.[1] : PACKHOUSE_PROFILE;

if (program !== undefined && PACKHOUSE_PROFILE.split(',').includes(program)) {
  profileThread(program);
  if (isMainThread) profileStartedThreads(program);
}

function profileThread(name: string): void {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US });
  session.post('Profiler.start');
  let written = false;
  const write = (): void => {
    if (written) return;
    written = true;
    session.post('Profiler.stop', (error, result?: Profiler.StopReturnType) => {
      if (error !== null || result === undefined) return;
      const thread = isMainThread ? 'main' : `thread-${threadId}`;
      const file = path.join(folder, `${name}-${process.pid}-${thread}.cpuprofile`);
      writeFileSync(file, JSON.stringify(result.profile));
    });
  };
  process.on('exit', write);
  if (isMainThread) return;
  const channel = new BroadcastChannel(CHANNEL);
  channel.unref();
  channel.onmessage = (message) => {
    if ((message as { data: unknown }).data !== threadId) return;
    write();
    channel.postMessage(-threadId);
  };
}

/** Threads that are started without the options of their process are given this hook; `terminate` lets them write. */
function profileStartedThreads(name: string): void {
  class ProfiledWorker extends workerThreads.Worker {
    constructor(file: string | URL, options: WorkerOptions = {}) {
      const env = options.env === undefined ? process.env : (options.env as NodeJS.Dict<string>);
      super(file, {
        ...options,
        env: { ...env, PACKHOUSE_PROFILE: name, PACKHOUSE_PROFILES: folder },
        execArgv: [...(options.execArgv ?? []), '--import', import.meta.url],
      });
    }
    override async terminate(): Promise<number> {
      const id = this.threadId;
      if (id > 0) await written(id);
      return super.terminate();
    }
  }
  workerThreads.Worker = ProfiledWorker as typeof workerThreads.Worker;
  syncBuiltinESMExports();
}

function written(id: number): Promise<void> {
  return new Promise((resolve) => {
    const channel = new BroadcastChannel(CHANNEL);
    const end = (): void => {
      clearTimeout(late);
      channel.close();
      resolve();
    };
    const late = setTimeout(end, END_MS);
    channel.onmessage = (message) => {
      if ((message as { data: unknown }).data === -id) end();
    };
    channel.postMessage(id);
  });
}
