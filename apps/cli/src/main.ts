#!/usr/bin/env node
import { captureWarnings, describeError, PackhouseError, redact } from '@packhouse/runtime';
import { runCli } from './cli.js';
import type { CliIo } from './terminal/io.js';

// Only the output of commands is printed here.
captureWarnings(process, () => undefined);
const stop = new AbortController();
const hurry = new AbortController();
const io: CliIo = {
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  cwd: process.cwd(),
  pid: process.pid,
  signal: stop.signal,
  hurry: hurry.signal,
  exitCode: 0,
};

// The first Ctrl-C or SIGTERM drains; a second one ends at once. npm passes on a signal that the terminal has already
// sent, so two at the same moment count as one.
const SAME_MOMENT_MS = 1_000;
const TOLD_TWICE = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
let firstAt: number | undefined;
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    firstAt ??= performance.now();
    stop.abort(new Error(name));
    if (performance.now() - firstAt <= SAME_MOMENT_MS) return;
    hurry.abort(new Error(name));
    process.exit(TOLD_TWICE[name]);
  });
}
// A closed stdout (`| head`) ends the run as Ctrl-C does.
process.stdout.on('error', () => stop.abort(new Error('stdout closed')));

try {
  await runCli(io, process.argv.slice(2));
} catch (error) {
  io.exitCode = error instanceof PackhouseError ? error.exitCode : 70;
  process.stderr.write(`packhouse: ${redact(describeError(error))}\n`);
}
process.exit(io.exitCode);
