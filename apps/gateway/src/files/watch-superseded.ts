/** How often it is looked, in milliseconds: so long may a download give the bundle that a newer one took the place of. */
const LOOK_MS = 500;

/**
 * Calls `onChange` whenever a bundle was superseded since the last look. While the database is gone nothing is known,
 * and what is remembered stays good enough. Ends with `close`.
 */
export function watchSuperseded(options: { count(): Promise<number>; onChange(): void }): { close(): void } {
  let last: number | undefined;
  let looking = false;
  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    try {
      const count = await options.count();
      if (count !== last) options.onChange();
      last = count;
    } catch {
      // The next look tells.
    } finally {
      looking = false;
    }
  };
  const timer = setInterval(() => void look(), LOOK_MS);
  timer.unref();
  return { close: () => clearInterval(timer) };
}
