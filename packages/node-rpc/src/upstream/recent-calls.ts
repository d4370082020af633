import { type Clock, getOrAdd } from '@packhouse/runtime';

/** The calls of the last five minutes to one upstream. */
export type RecentCalls = ReturnType<typeof createRecentCalls>;

interface Slot {
  minute: number;
  methods: Map<string, { calls: number; answers: number; ms: number }>;
  errors: Map<string, number>;
}

const MINUTE_MS = 60_000;
const MINUTES = 5;
/** Methods that are reported, and names that are kept of a minute: clients may invent them. */
const MAX_REPORTED = 20;
const MAX_METHODS = 200;

/** Creates the counts, of whole minutes. */
export function createRecentCalls({ elapsed }: Pick<Clock, 'elapsed'>) {
  let slots: Slot[] = [];
  const totals = { calls: 0, errors: 0, answers: 0, ms: 0 };

  const now = (): Slot => {
    const minute = Math.floor(elapsed() / MINUTE_MS);
    const last = slots.at(-1);
    if (last?.minute === minute) return last;
    const slot: Slot = { minute, methods: new Map(), errors: new Map() };
    slots = [...slots.filter((each) => each.minute > minute - MINUTES), slot];
    return slot;
  };
  const getCount = ({ methods }: Slot, method: string): { calls: number; answers: number; ms: number } => {
    const name = methods.has(method) || methods.size < MAX_METHODS ? method : 'other';
    return getOrAdd(methods, name, () => ({ calls: 0, answers: 0, ms: 0 }));
  };

  return {
    /** Counts calls of a method with one outcome. */
    called(method: string, outcome: string, calls: number): void {
      const slot = now();
      getCount(slot, method).calls += calls;
      totals.calls += calls;
      if (outcome !== 'ok') totals.errors += calls;
      if (outcome !== 'ok') slot.errors.set(outcome, (slot.errors.get(outcome) ?? 0) + calls);
    },
    /** Notes the time of one HTTP answer. */
    answered(method: string, ms: number): void {
      const count = getCount(now(), method);
      count.answers += 1;
      count.ms += ms;
      totals.answers += 1;
      totals.ms += ms;
    },
    /** All since the process began; `ms`: how long all HTTP answers took together. */
    totals: () => ({ ...totals, ms: Math.round(totals.ms) }),
    /** By method, the most asked first, `ms`: mean time of an answer, null: there was none; and what went wrong by meaning. */
    summarize() {
      now();
      const methods: Slot['methods'] = new Map();
      const errors: Slot['errors'] = new Map();
      for (const slot of slots) {
        for (const [method, { calls, answers, ms }] of slot.methods) {
          const sum = getOrAdd(methods, method, () => ({ calls: 0, answers: 0, ms: 0 }));
          sum.calls += calls;
          sum.answers += answers;
          sum.ms += ms;
        }
        for (const [meaning, calls] of slot.errors) errors.set(meaning, (errors.get(meaning) ?? 0) + calls);
      }
      const most = (a: { calls: number }, b: { calls: number }): number => b.calls - a.calls;
      return {
        methods: [...methods]
          .map(([method, { calls, answers, ms }]) => ({
            method,
            calls,
            ms: answers === 0 ? null : Math.round((10 * ms) / answers) / 10,
          }))
          .sort(most)
          .slice(0, MAX_REPORTED),
        errors: [...errors].map(([meaning, calls]) => ({ meaning, calls })).sort(most),
      };
    },
  };
}
