import type { Branch, FeedRepair } from '@packhouse/database';
import { WINDOW_REPAIRS } from '@packhouse/database';
import { DAY_MS } from '@packhouse/runtime';
import { getLowest, type Reader, removed } from './read-steps.js';

/* What a feed has to say of blocks that it delivered before, before it goes on. */

/** Repairs that are read at a time where the window does not reach. */
const REPAIRS = 1_000;

/**
 * Undoes delivered blocks that are no longer in the chain, the newest first, down to the newest that is. Returns true if
 * the answer is full before that. Throws CURSOR_REMOVED if a final block is no longer in the chain.
 *
 * A block is in the chain if it is staged; or it is final, was not abandoned, and the cursor is not older than abandoned
 * blocks are kept. What is neither known to be in the chain nor abandoned (the database lost it, or the cursor is that
 * old) is undone down to the last final block in one step.
 */
export async function undoAbandoned(reader: Reader, now: number): Promise<boolean> {
  const { state, view, database } = reader;
  const place =
    state.tip ?? (state.base.hash === null ? null : { block: state.base.block, hash: state.base.hash });
  if (place === null || view.staged(place.block)?.hash === place.hash) return false;
  const branch = await view.once(`branch ${place.hash}`, () => database.feed.branch(place));
  if (state.tip === null) {
    if (branch.abandoned.length > 0) throw removed(reader);
    return false;
  }
  const { base } = state;
  if (base.hash !== null && branch.abandoned.some(({ number }) => number <= base.block))
    throw removed(reader);
  let last: { block: number; hash: string } = place;
  for (const { number: block, hash, parentHash } of branch.abandoned) {
    if (reader.isFull()) return true;
    const parent = { block: block - 1, hash: parentHash };
    const isBase = parent.block === base.block;
    if (isBase && base.hash !== null && base.hash !== parent.hash) throw removed(reader);
    moveBack(reader, parent);
    reader.push({ step: 'undo', block, hash, to: isBase ? { ...base } : parent });
    if (isBase) return false;
    last = parent;
  }
  if (branch.more || isInChain(reader, branch, last.block, now)) return branch.more;
  if (reader.isFull()) return true;
  moveBack(reader, base);
  reader.push({ step: 'undo', ...last, to: { ...base } });
  return false;
}

function moveBack({ state }: Reader, to: { block: number; hash: string | null }): void {
  state.tip = to.block > state.base.block && to.hash !== null ? { block: to.block, hash: to.hash } : null;
  for (const [kind, next] of state.next) state.next.set(kind, Math.min(next, to.block + 1));
}

function isInChain({ view, state, database }: Reader, branch: Branch, block: number, now: number): boolean {
  if (branch.staged !== null) return branch.staged;
  const isKnown = now - state.madeAt * 1_000 < database.feed.keptDays * DAY_MS;
  return isKnown && block <= view.window.finalized;
}

/** Reports delivered files that were published again since. Returns true if the answer is full before that. */
export async function reportRepairs(reader: Reader): Promise<boolean> {
  const { state, view, options, database } = reader;
  for (const kind of state.kinds) {
    const recent = view.window.repairs.get(kind) ?? [];
    const newest = recent.at(-1)?.sequence ?? -1;
    for (let seen = state.seen.get(kind) as number; seen < newest; seen = state.seen.get(kind) as number) {
      const isWhole = recent.length < WINDOW_REPAIRS || (recent[0] as FeedRepair).sequence <= seen;
      const repairs = isWhole
        ? recent.filter(({ sequence }) => sequence > seen)
        : await database.feed.repairs(kind, seen, REPAIRS);
      for (const { sequence, firstBlock, lastBlock, sha256, supersedes } of repairs) {
        const isDelivered = firstBlock < (state.next.get(kind) as number) && lastBlock >= state.start;
        if (isDelivered && reader.isFull()) return true;
        state.seen.set(kind, sequence);
        if (!isDelivered) continue;
        const range = `${firstBlock}-${lastBlock}`;
        const download_link = `${options.downloadUrl}/${kind}/${range}.json.gz`;
        reader.push({ step: 'repaired', kind, range, sha256, supersedes, download_link });
      }
      if (repairs.length === 0) state.seen.set(kind, newest);
    }
  }
  return reader.isFull();
}

/** Says which of the delivered blocks became final, if more did. */
export function reportFinal(reader: Reader): void {
  const { state, view } = reader;
  const { tip, base } = state;
  if (tip === null || reader.isFull()) return;
  const { finalized, finalHash } = view.window;
  const block = Math.min(finalized, getLowest(state).block - 1, tip.block);
  if (block <= base.block) return;
  const known = (): string | null => {
    if (block === tip.block) return tip.hash;
    if (block === finalized && finalHash !== null) return finalHash;
    return view.staged(block)?.hash ?? view.staged(block + 1)?.parentHash ?? null;
  };
  const hash = known();
  // Reported with the next block of which it is known.
  if (hash === null) return;
  state.base = { block, hash };
  if (block === tip.block) state.tip = null;
  reader.push({ step: 'final', block, hash });
}
