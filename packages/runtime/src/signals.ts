import { systemClock } from './time/clock.js';

/** npm passes on a signal that the terminal or systemd has already sent to all: two this close are one. */
const SAME_MOMENT_MS = 1_000;

/** Calls `first` at the first of these signals and `again` at later ones. Returns a function that ends this. */
export function onSignals<Name extends NodeJS.Signals>(
  host: NodeJS.Process,
  names: readonly Name[],
  { first, again }: { first(name: Name): void; again(name: Name): void },
): () => void {
  let firstAt: number | undefined;
  const undo = names.map((name) => {
    const listener = (): void => {
      const now = systemClock.elapsed();
      if (firstAt === undefined) {
        firstAt = now;
        first(name);
      } else if (now - firstAt > SAME_MOMENT_MS) again(name);
    };
    host.on(name, listener);
    return () => host.off(name, listener);
  });
  return () => {
    for (const each of undo) each();
  };
}
