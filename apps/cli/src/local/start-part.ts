import type { ProcessMessage } from '@packhouse/runtime';
import { noteChild } from './leftovers.js';
import type { LocalRun } from './local-run.js';
import { type Supervised, supervise } from './supervise.js';

type Part = Omit<Parameters<typeof supervise>[0], 'logFile' | 'onMessage' | 'onStart'> & {
  onMessage(message: ProcessMessage): void;
};

/** Starts an app of this machine, with its log in the data folder; `env` is added to this process's own environment. */
export function startPart({ io, directory, reporter }: LocalRun, part: Part): Supervised {
  const { name } = part;
  const child = supervise({
    ...part,
    env: () => ({
      ...io.env,
      OBJECT_STORE: io.env.OBJECT_STORE ?? directory.in('objects'),
      // Parts get the address itself.
      DATABASE_URL_FILE: '',
      ...part.env(),
    }),
    logFile: directory.in('logs', `${name}.log`),
    onMessage(_, message) {
      if (message.type === 'problem') reporter.problem(name, message.message, message.code);
      part.onMessage(message);
    },
    onStart: (pid) => noteChild(directory, name, pid),
  });
  io.hurry?.addEventListener('abort', () => child.kill(), { once: true });
  return child;
}
