import type { DeliveredBlocks, Hook, HookPlace } from '@packhouse/database';
import type { FeedStep } from '@packhouse/manifest';
import type { LogMatcher } from './match-logs.js';

/** What a hook is told of a page of the feed, and where it stands behind that. */
interface ChosenSteps {
  steps: FeedStep[];
  place: HookPlace;
  /** Whether the page was read to its end. */
  all: boolean;
}

/** Steps of a delivery, at most, and characters of all of them; one step may be longer. */
const MAX_STEPS = 100;
const MAX_CHARACTERS = 200_000;
/** Why a feed waits although nothing is about to bring the block: what a receiver is told, once. */
const TOLD_REASONS = new Set(['quarantined', 'not-requested', 'cancelled', 'paused', 'halted']);

/**
 * Chooses what a hook is told. Without a filter that is every step but `waiting` for a block that is about to come. With
 * one, it is the bundles and blocks that may have a matching log, and `undo` and `final` only if they concern a block
 * that the hook was told and that was not final.
 */
export async function chooseSteps(
  page: readonly FeedStep[],
  hook: Pick<Hook, 'addresses' | 'topics'> & HookPlace,
  matcher: LogMatcher,
): Promise<ChosenSteps> {
  const filtered = hook.addresses.length + hook.topics.length > 0;
  const steps: FeedStep[] = [];
  let { cursor, notFinal, waiting } = hook;
  let characters = 0;
  const isTold = async (step: FeedStep): Promise<boolean> => {
    if (step.step === 'waiting') return TOLD_REASONS.has(step.reason) && waiting !== toKey(step);
    if (!filtered) return true;
    if (step.step === 'bundle') return matcher.bundle(step.from, hook);
    if (step.step === 'repaired') return matcher.bundle(Number(step.range.split('-')[0]), hook);
    if (step.step === 'new') return matcher.block(step, hook);
    if (step.step === 'undo') return notFinal !== null && notFinal.last > step.to.block;
    if (step.step === 'final') return notFinal !== null && notFinal.first <= step.block;
    return true;
  };
  for (const step of page) {
    if (await isTold(step)) {
      characters += JSON.stringify(step).length;
      const isFull = steps.length === MAX_STEPS || (steps.length > 0 && characters > MAX_CHARACTERS);
      if (isFull) return { steps, place: { cursor, notFinal, waiting }, all: false };
      steps.push(step);
      if (step.step === 'new') notFinal = { first: notFinal?.first ?? step.block, last: step.block };
    }
    notFinal = settle(notFinal, step);
    waiting = step.step !== 'waiting' ? null : TOLD_REASONS.has(step.reason) ? toKey(step) : waiting;
    cursor = step.cursor;
  }
  return { steps, place: { cursor, notFinal, waiting }, all: true };
}

/** The delivered blocks that are left after a step that removes blocks or makes them final. */
function settle(notFinal: DeliveredBlocks | null, step: FeedStep): DeliveredBlocks | null {
  if (notFinal === null) return null;
  if (step.step === 'undo') {
    if (notFinal.first > step.to.block) return null;
    return { first: notFinal.first, last: Math.min(notFinal.last, step.to.block) };
  }
  if (step.step !== 'final' || notFinal.first > step.block) return notFinal;
  return notFinal.last > step.block ? { first: step.block + 1, last: notFinal.last } : null;
}

function toKey({ block, reason }: { block: number; reason: string }): string {
  return `${block} ${reason}`;
}
