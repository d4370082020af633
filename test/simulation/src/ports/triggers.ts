import type { Port } from '../schedule/action.js';

/** What a trigger does to the message that it waited for. */
type Effect =
  | { kind: 'kill'; when: 'before' | 'after' }
  | { kind: 'cut'; when: 'before' | 'after' }
  | { kind: 'error'; code: string }
  | { kind: 'store'; fault: string };

/** Waits for the n-th message at a port. */
interface Trigger {
  port: Port;
  /** The process whose messages count; null: everybody's. */
  process: string | null;
  /** Only messages of this method count. */
  method?: string;
  /** Counted from 1, from now on. */
  nth: number;
  effect: Effect;
}

/** Faults that wait for their moment. */
export interface Triggers {
  arm(trigger: Trigger): void;
  /** Tells of a message; returns what happens to it. */
  hit(port: Port, process: string, method?: string): Effect[];
  /** Forgets those that still wait; returns how many. */
  disarm(): number;
}

/** None waits yet. */
export function createTriggers(): Triggers {
  let armed: { trigger: Trigger; left: number }[] = [];
  return {
    arm(trigger) {
      armed.push({ trigger, left: trigger.nth });
    },
    hit(port, process, method) {
      const due: Effect[] = [];
      for (const entry of armed) {
        const { trigger } = entry;
        if (trigger.port !== port) continue;
        if (trigger.process !== null && trigger.process !== process) continue;
        if (trigger.method !== undefined && trigger.method !== method) continue;
        entry.left -= 1;
        if (entry.left === 0) due.push(trigger.effect);
      }
      if (due.length > 0) armed = armed.filter(({ left }) => left > 0);
      return due;
    },
    disarm() {
      const waiting = armed.length;
      armed = [];
      return waiting;
    },
  };
}
