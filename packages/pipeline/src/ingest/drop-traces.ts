import type { FetchedBlock } from '@packhouse/node-rpc';

/**
 * Lets go of traces that nobody will read: they may be an answer that is still coming in on a connection of its own.
 * How that ends is nobody's affair: an unhandled rejection would end the process.
 */
export function dropTraces({ traces }: Pick<FetchedBlock, 'traces'>): void {
  if (traces === undefined || Array.isArray(traces)) return;
  traces[Symbol.asyncIterator]()
    .return?.()
    .catch(() => undefined);
}
