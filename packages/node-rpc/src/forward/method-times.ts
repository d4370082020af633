/** How long each method usually takes, whichever node is asked. */
export interface MethodTimes {
  /** A node answered after so many milliseconds. */
  answered(method: string, ms: number): void;
  /** Smoothed milliseconds; 0 while unknown. */
  usual(method: string): number;
}

/** More than any family has; what comes beyond has no time of its own. */
const MOST_METHODS = 256;

/** Makes it; nothing is known yet. */
export function createMethodTimes(): MethodTimes {
  const times = new Map<string, { ms: number }>();
  return {
    answered(method, ms) {
      const time = times.get(method);
      if (time !== undefined) time.ms = time.ms * 0.9 + ms * 0.1;
      else if (times.size < MOST_METHODS) times.set(method, { ms });
    },
    usual: (method) => times.get(method)?.ms ?? 0,
  };
}
