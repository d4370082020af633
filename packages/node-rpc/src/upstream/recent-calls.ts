import type { Clock } from '@packhouse/runtime';

/** The calls of the last five minutes to one upstream. */
export interface RecentCalls {
  /** Counts calls of a method with one outcome. */
  called(method: string, outcome: string, calls: number): void;
  /** Notes the time of one HTTP answer. */
  answered(method: string, ms: number): void;
  /** By method, the most asked first; and what went wrong by meaning. */
  look(): RecentFigures;
}

export interface RecentFigures {
  /** `ms`: mean time of an answer; null: there was none. */
  methods: { method: string; calls: number; ms: number | null }[];
  errors: { meaning: string; calls: number }[];
}

interface Slot {
  minute: number;
  methods: Map<string, { calls: number; answers: number; ms: number }>;
  errors: Map<string, number>;
}

const MINUTE_MS = 60_000;
const MINUTES = 5;
/** Methods that are told, and names that are kept of a minute: clients may invent them. */
const MOST_TOLD = 20;
const MOST_METHODS = 200;
const GOOD: ReadonlySet<string> = new Set(['ok', 'result']);

/** Creates the counts, of whole minutes. */
export function createRecentCalls({ elapsed }: Pick<Clock, 'elapsed'>): RecentCalls {
  let slots: Slot[] = [];

  const now = (): Slot => {
    const minute = Math.floor(elapsed() / MINUTE_MS);
    const last = slots.at(-1);
    if (last?.minute === minute) return last;
    const slot: Slot = { minute, methods: new Map(), errors: new Map() };
    slots = [...slots.filter((each) => each.minute > minute - MINUTES), slot];
    return slot;
  };
  const countOf = ({ methods }: Slot, method: string): { calls: number; answers: number; ms: number } => {
    const name = methods.has(method) || methods.size < MOST_METHODS ? method : 'other';
    const count = methods.get(name) ?? { calls: 0, answers: 0, ms: 0 };
    methods.set(name, count);
    return count;
  };

  return {
    called(method, outcome, calls) {
      const slot = now();
      countOf(slot, method).calls += calls;
      if (!GOOD.has(outcome)) slot.errors.set(outcome, (slot.errors.get(outcome) ?? 0) + calls);
    },
    answered(method, ms) {
      const count = countOf(now(), method);
      count.answers += 1;
      count.ms += ms;
    },
    look() {
      now();
      const methods: Slot['methods'] = new Map();
      const errors: Slot['errors'] = new Map();
      for (const slot of slots) {
        for (const [method, { calls, answers, ms }] of slot.methods) {
          const sum = methods.get(method) ?? { calls: 0, answers: 0, ms: 0 };
          methods.set(method, { calls: sum.calls + calls, answers: sum.answers + answers, ms: sum.ms + ms });
        }
        for (const [meaning, calls] of slot.errors) errors.set(meaning, (errors.get(meaning) ?? 0) + calls);
      }
      const most = (a: { calls: number }, b: { calls: number }): number => b.calls - a.calls;
      return {
        methods: [...methods]
          .map(([method, { calls, answers, ms }]) => ({
            ...{ method, calls },
            ms: answers === 0 ? null : Math.round((10 * ms) / answers) / 10,
          }))
          .sort(most)
          .slice(0, MOST_TOLD),
        errors: [...errors].map(([meaning, calls]) => ({ meaning, calls })).sort(most),
      };
    },
  };
}
