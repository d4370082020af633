import { setImmediate, setTimeout } from 'node:timers/promises';
import { describeError, PackhouseError, redact, toFinalError } from '@packhouse/runtime';
import { type CliIo, harmless, OutputEnded } from './io.js';

/** Exit codes of a run that a signal ended, as a shell reports them. */
export const STOPPED_BY = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Why a run ends that a signal stopped. */
export class Stopped extends Error {
  constructor(readonly by: keyof typeof STOPPED_BY) {
    super(`Stopped by ${by}.`);
  }
}

const AGAIN = 'Run it again: what was finished is kept. PACKHOUSE_DEBUG=1 prints where it failed.';

/** How long output may still take that nobody reads, after a signal, in milliseconds. */
const LAST_OUTPUT_MS = 1_000;

/**
 * Ends a run with `error`, or without one: says what failed, waits until all output is written, and returns the exit
 * code. A reader that went away has read what it wanted, so that is no failure; output that cannot be written is one.
 * A reader may take its time; only a signal ends the wait.
 */
export async function finish(io: CliIo, error?: unknown): Promise<number> {
  let code = io.exitCode;
  const failed = (failure: unknown): void => {
    const known = failure instanceof Stopped ? failure : toFinalError(failure, AGAIN);
    code = known instanceof Stopped ? STOPPED_BY[known.by] : known.exitCode;
    const stack = failure instanceof Error && io.env.PACKHOUSE_DEBUG === '1' ? `${failure.stack}\n` : '';
    const text = redact(`${stack}packhouse: ${describeError(known)}\n`);
    io.stderr.write(io.stderr.isTTY ? harmless(text) : text);
  };
  if (error !== undefined && !(error instanceof OutputEnded)) failed(error);
  const unwritten = await flush(io);
  if (unwritten instanceof Stopped) return STOPPED_BY[unwritten.by];
  if (unwritten !== null && !isGone(unwritten) && code === 0) {
    failed(
      new PackhouseError({
        code: 'OUTPUT_FAILED',
        message: `Cannot write the output: ${unwritten.message}.`,
        hint: 'Free some space, or write it elsewhere.',
        cause: unwritten,
      }),
    );
    await flush(io);
  }
  return code;
}

/** Waits until stdout and stderr are written; resolves to why stdout was not. */
async function flush({ stdout, stderr, signal }: CliIo): Promise<Error | null> {
  const written = (stream: typeof stdout): Promise<Error | null> =>
    new Promise((resolve) => stream.write('', (error) => resolve(error ?? null)));
  const over = new AbortController();
  try {
    const ended = await Promise.race([
      Promise.all([written(stdout), written(stderr)]).then(([error]) => error),
      afterSignal(signal, over.signal),
    ]);
    // The event with the first error comes after the callbacks.
    await setImmediate();
    return ended instanceof Stopped || !(signal.reason instanceof OutputEnded)
      ? ended
      : (signal.reason.cause as Error);
  } finally {
    over.abort();
  }
}

/** Resolves a moment after a signal stopped the run. */
async function afterSignal(signal: AbortSignal, over: AbortSignal): Promise<Stopped | null> {
  return new Promise((resolve) => {
    const wait = async (): Promise<void> => {
      if (!(signal.reason instanceof Stopped)) return;
      await setTimeout(LAST_OUTPUT_MS, undefined, { signal: over }).catch(() => undefined);
      resolve(signal.reason);
    };
    if (signal.aborted) void wait();
    else signal.addEventListener('abort', () => void wait(), { once: true, signal: over });
  });
}

function isGone(error: Error): boolean {
  return ['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED'].includes(
    (error as NodeJS.ErrnoException).code ?? '',
  );
}
