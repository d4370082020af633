import { PassThrough, type Readable } from 'node:stream';

/** Passes a stream on; its errors come out as `mapError` makes them, and an abort ends it with the signal's reason. */
export function mappedStream(
  source: Readable,
  mapError: (error: unknown) => Error,
  signal: AbortSignal | undefined,
): Readable {
  const out = new PassThrough();
  const abort = (): void => {
    const reason: unknown = signal?.reason;
    out.destroy(reason instanceof Error ? reason : new Error(String(reason)));
  };
  source.on('error', (error) => out.destroy(mapError(error)));
  source.on('close', () => {
    if (!source.readableEnded) out.destroy(mapError(new Error('the answer ended early')));
  });
  out.on('close', () => {
    signal?.removeEventListener('abort', abort);
    source.destroy();
  });
  source.pipe(out);
  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort);
  return out;
}
