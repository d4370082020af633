import type { Figures } from '@packhouse/database';
import { DAY_MS } from '@packhouse/runtime';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;

/** Most points of a curve: a week in steps of ten minutes has 1,008. */
const MAX_POINTS = 1_010;
const MINUTE_STEPS = [1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS);
const HOUR_STEPS = [1, 2, 3, 6, 12, 24].map((hours) => hours * HOUR_MS);

/** The points of a range, and what they are means of. */
interface Steps {
  unit: 'minute' | 'hour';
  stepMs: number;
  /** Begin of the first point. */
  startMs: number;
  points: number;
}

/**
 * Chooses the shortest step by which a range has 1,010 points at most. Samples of a minute are chosen if they are
 * kept since the begin of the range, and if means of an hour would not do as well.
 */
export function chooseSteps(fromMs: number, untilMs: number, minutesSinceMs: number): Steps {
  const length = Math.max(MINUTE_MS, untilMs - fromMs);
  const fits = (step: number): boolean => length / step <= MAX_POINTS;
  const byMinutes = fromMs >= minutesSinceMs ? MINUTE_STEPS.find(fits) : undefined;
  const stepMs = byMinutes ?? HOUR_STEPS.find(fits) ?? DAY_MS;
  const startMs = Math.floor(fromMs / stepMs) * stepMs;
  return {
    unit: byMinutes === undefined ? 'hour' : 'minute',
    stepMs,
    startMs,
    points: Math.max(1, Math.ceil((untilMs - startMs) / stepMs)),
  };
}

/**
 * The mean of each figure in each step. null: nothing was sampled in the step, or the figure was unknown in all of it.
 * With `sparse`, what was sampled and has no row is zero.
 */
export function toPoints(given: {
  steps: Steps;
  samples: ReadonlyMap<number, Figures>;
  sampled: ReadonlySet<number>;
  width: number;
  sparse: boolean;
}): (number | null)[][] {
  const { steps, samples, sampled, width, sparse } = given;
  const unitMs = steps.unit === 'minute' ? MINUTE_MS : HOUR_MS;
  const sums = Array.from({ length: width }, () => new Float64Array(steps.points));
  const counts = Array.from({ length: width }, () => new Uint32Array(steps.points));
  for (const time of sparse ? sampled : samples.keys()) {
    const point = Math.floor((time * unitMs - steps.startMs) / steps.stepMs);
    if (point < 0 || point >= steps.points) continue;
    const figures = samples.get(time);
    for (let at = 0; at < width; at++) {
      const value = figures === undefined ? 0 : (figures[at] ?? null);
      if (value === null) continue;
      (sums[at] as Float64Array)[point]! += value;
      (counts[at] as Uint32Array)[point]! += 1;
    }
  }
  return sums.map((sum, at) =>
    [...sum].map((value, point) => {
      const count = counts[at]?.[point] ?? 0;
      return count === 0 ? null : round(value / count);
    }),
  );
}

/** Samples have six digits or so. */
const round = (value: number): number => Number(value.toPrecision(6));
