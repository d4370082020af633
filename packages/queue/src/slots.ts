import { getOrAdd } from '@packhouse/runtime';

/** The slots of one worker: each group has its own, so that jobs of one group never wait for those of another. */
interface Slots {
  /**
   * Takes a slot of a group, now or when one is free; call the returned function to leave it. Resolves to null if the
   * signal is aborted before. Returns null if as many jobs of the group are here as may be.
   */
  enter(group: string, signal: AbortSignal): Promise<(() => void) | null> | null;
}

interface Group {
  running: number;
  readonly waiting: Set<() => void>;
}

/** `slots`: jobs of a group that run at a time; `room`: with those that wait for a slot. */
export function createSlots({ slots, room }: { slots: number; room: number }): Slots {
  const groups = new Map<string, Group>();

  const begin = (name: string, group: Group): (() => void) => {
    group.running += 1;
    return () => {
      group.running -= 1;
      const [next] = group.waiting;
      if (next !== undefined) next();
      else if (group.running === 0) groups.delete(name);
    };
  };

  return {
    enter(name, signal) {
      const group = getOrAdd(groups, name, (): Group => ({ running: 0, waiting: new Set() }));
      if (group.running < slots) return Promise.resolve(begin(name, group));
      if (group.running + group.waiting.size >= room) return null;
      return new Promise((resolve) => {
        const settle = (leave: (() => void) | null): void => {
          group.waiting.delete(go);
          signal.removeEventListener('abort', stop);
          resolve(leave);
        };
        const go = (): void => settle(begin(name, group));
        const stop = (): void => settle(null);
        if (signal.aborted) return resolve(null);
        signal.addEventListener('abort', stop, { once: true });
        group.waiting.add(go);
      });
    },
  };
}
