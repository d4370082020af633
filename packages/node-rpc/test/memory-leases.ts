import type { LeaseStore } from '../src/spending/lease-store.js';

/** Budgets of one process, with a clock that a test sets on. */
export function memoryLeases(time: { now: number } = { now: Date.UTC(2026, 10, 30, 12) }) {
  const states = new Map<string, string>();
  const store = { away: false, asked: 0, states };
  const asked = (): void => {
    store.asked += 1;
    if (store.away) throw new Error('the connection was refused');
  };
  return Object.assign(store, {
    read: async (key: string) => {
      asked();
      return { state: states.get(key) ?? null, now: time.now };
    },
    swap: async (key: string, before: string | null, after: string) => {
      asked();
      if ((states.get(key) ?? null) !== before) return false;
      states.set(key, after);
      return true;
    },
    forget: async (key: string) => void states.delete(key),
  } satisfies LeaseStore);
}
