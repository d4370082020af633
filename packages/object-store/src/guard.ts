/** Runs calls to a store: an abort throws its signal's reason, and any other error becomes one of the store's. */
export function createGuard<Deed>(toError: (error: unknown, key: string, deed: Deed) => unknown) {
  return async <T>(
    key: string,
    deed: Deed,
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T> => {
    try {
      signal?.throwIfAborted();
      return await work();
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw toError(error, key, deed);
    }
  };
}
