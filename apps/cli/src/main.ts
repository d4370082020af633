#!/usr/bin/env node
import { captureWarnings, guardConnections, requireWebAssembly } from '@packhouse/runtime';
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

// The first Ctrl-C or SIGTERM drains; a second one ends at once. npm passes on a signal that the terminal has already
// sent, so two at the same moment count as one.
const SAME_MOMENT_MS = 1_000;
let firstAt: number | undefined;
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    firstAt ??= performance.now();
    stop.abort(new Stopped(name));
    if (performance.now() - firstAt <= SAME_MOMENT_MS) return;
    hurry.abort(new Stopped(name));
    process.exit(STOPPED_BY[name]);
  });
}
// A closed stdout (`| head`) ends the run as Ctrl-C does.
process.stdout.on('error', (cause) => stop.abort(new OutputEnded('stdout is closed', { cause })));
process.stderr.on('error', () => undefined);
// What no command can catch, such as an error in an event of a library.
const end = async (error?: unknown): Promise<never> => process.exit(await finish(io, error));
process.once('uncaughtException', end).once('unhandledRejection', end);

await run().then(() => end(), end);

async function run(): Promise<void> {
  requireWebAssembly();
  guardConnections();
  return runCli(io, process.argv.slice(2));
}
