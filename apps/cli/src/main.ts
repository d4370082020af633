#!/usr/bin/env node
import {
  captureWarnings,
  completeEnvironment,
  guardConnections,
  namesProxy,
  onSignals,
  requireWebAssembly,
} from '@packhouse/runtime';
import { runCli } from './cli.js';
import { finish, STOPPED_BY, Stopped } from './terminal/finish.js';
import { type CliIo, OutputEnded } from './terminal/io.js';

// Only the output of commands is printed here.
captureWarnings(process, () => undefined);
const stop = new AbortController();
const hurry = new AbortController();
const io: CliIo = {
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  cwd: process.cwd(),
  pid: process.pid,
  signal: stop.signal,
  hurry: hurry.signal,
  exitCode: 0,
};

// The first Ctrl-C or SIGTERM drains; a second one ends at once.
const ignoreSignals = onSignals(process, ['SIGINT', 'SIGTERM', 'SIGHUP'], {
  first: (name) => stop.abort(new Stopped(name)),
  again: (name) => {
    hurry.abort(new Stopped(name));
    process.exit(STOPPED_BY[name]);
  },
});
// A closed stdout (`| head`) ends the run as Ctrl-C does.
process.stdout.on('error', (cause) => stop.abort(new OutputEnded('stdout is closed', { cause })));
process.stderr.on('error', () => undefined);
// What no command can catch, such as an error in an event of a library.
let ending: Promise<never> | undefined;
const end = (error?: unknown): Promise<never> => {
  // What follows from the first error, while that is said, is not said beside it.
  ending ??= finish(io, error).then((code) => process.exit(code));
  return ending;
};
process.once('uncaughtException', end).once('unhandledRejection', end);

await run()
  .then(() => (io.service === undefined ? end() : become(io.service)))
  .catch(end);

async function run(): Promise<void> {
  requireWebAssembly();
  guardConnections();
  completeEnvironment(process);
  if (namesProxy(process.env)) {
    // For requests that have no dispatcher of their own, Node's `fetch` among them.
    const { EnvHttpProxyAgent, setGlobalDispatcher } = await import('undici');
    setGlobalDispatcher(new EnvHttpProxyAgent());
  }
  return runCli(io, process.argv.slice(2));
}

/** Leaves the rest of this process to a service, which has its own signals and failures, and no supervisor. */
async function become({ main, env }: NonNullable<CliIo['service']>): Promise<void> {
  ignoreSignals();
  process.off('uncaughtException', end).off('unhandledRejection', end);
  if (process.connected) process.disconnect();
  delete process.send;
  Object.assign(process.env, { ...env, ...process.env });
  await import(main);
}
