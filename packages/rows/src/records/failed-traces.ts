import type { JsonRecord } from './read-columns.js';

/** Says of the traces of a block, in their order, which failed or are within one that did: their changes were undone. */
export function createFailures(): { isFailed(trace: JsonRecord): boolean } {
  let failed: readonly unknown[] | null = null;
  return {
    isFailed({ traceAddress, error }) {
      const address = traceAddress as readonly unknown[];
      const isWithin =
        failed !== null && address.length > failed.length && failed.every((at, n) => at === address[n]);
      if (isWithin) return true;
      failed = error == null ? null : address;
      return failed !== null;
    },
  };
}
