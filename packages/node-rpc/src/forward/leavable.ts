/**
 * A generator that calls `leave` if its reader leaves before the first piece: one that has not begun runs no `finally`, and
 * would keep what it reads from until a time limit.
 */
export function leavable<T>(
  pieces: AsyncGenerator<T, undefined>,
  leave: () => Promise<unknown> | undefined,
): AsyncIterableIterator<T> {
  let begun = false;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next() {
      begun = true;
      return pieces.next();
    },
    async return() {
      if (!begun) await leave();
      return pieces.return(undefined);
    },
  };
}
