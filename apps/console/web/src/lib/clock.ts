/** An answer says its time in whole seconds; within this the clock of the browser is taken as right. */
const ALIKE_MS = 2_500;

/** How far the clock of the browser is behind that of the console, in milliseconds. */
let behindMs = 0;

/**
 * Learns the console's time from the header `date` of an answer that arrived just now. The clock of a browser may be
 * wrong by days, and what it says must not make an alarm old or a retry late.
 */
export function learnTime(date: string | null): void {
  const there = Date.parse(date ?? '');
  if (Number.isNaN(there)) return;
  // In the middle of its second.
  const behind = there + 500 - Date.now();
  behindMs = Math.abs(behind) < ALIKE_MS ? 0 : behind;
}

/** The time of the console, in milliseconds since 1970: for ages and countdowns of what it says. */
export const getNow = (): number => Date.now() + behindMs;
