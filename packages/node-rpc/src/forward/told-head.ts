import type { Clock } from '@packhouse/runtime';
import type { ResultBody } from './forwarder.js';

/** The newest block number that clients were told. */
interface ToldHead {
  /** Notes a number; false if it is before the tip, or before one told a moment ago: then others must agree. */
  accept(head: number, tip: number | null): boolean;
  /** All that were asked agree on this number. */
  reset(head: number | null): void;
}

/** A number told longer ago does not count. */
const HELD_MS = 30_000;

/** Creates the memory of one network: nothing is told yet. */
export function createToldHead({ now }: Pick<Clock, 'now'>): ToldHead {
  let told = { head: -1, at: 0 };
  return {
    accept(head, tip) {
      const held = now() - told.at <= HELD_MS ? told.head : -1;
      if (head < Math.max(held, tip ?? -1)) return false;
      told = { head, at: now() };
      return true;
    },
    reset(head) {
      if (head !== null) told = { head, at: now() };
    },
  };
}

/** The number in a result that is a QUANTITY; null if it is none. */
export function headIn({ bytes, rest }: ResultBody): number | null {
  if (rest !== null || bytes.length > 20) return null;
  const digits = /^"(0x[0-9a-f]{1,13})"$/i.exec(bytes.toString('latin1').trim())?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Whether a result is `null`. */
export function isNull({ bytes, rest }: ResultBody): boolean {
  return rest === null && bytes.length === 4 && bytes.toString('latin1') === 'null';
}
