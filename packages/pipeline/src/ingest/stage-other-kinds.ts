import type { Kind } from '@packhouse/chain';
import type { BlockSource, FailedBlock, FetchedBlock } from '@packhouse/node-rpc';
import { heavier, isPackhouseError, PackhouseError } from '@packhouse/runtime';
import type { IngestWindow } from '../job-names.js';
import { tryFetch } from './extract.js';
import type { Failed } from './ingest-piece.js';
import { dropTraces } from './prove-record.js';

/** Blocks in a row that failed in all of these kinds. */
interface FailedWindow extends IngestWindow {
  failed: readonly Failed[];
}

/**
 * Stages the kinds of failed blocks that do not need the part that failed. `stage` extracts and stages a window from
 * the given source. Returns the number of blocks staged, and `left`: the failures that remain, with their kinds.
 *
 * Nothing is taken from an upstream whose own data makes it suspect: without the record that contradicts it, a false
 * one would pass its proofs.
 */
export async function stageOtherKinds(
  { source }: { source: BlockSource },
  { firstBlock, lastBlock, kinds: all, failed }: FailedWindow,
  signal: AbortSignal,
  stage: (
    source: BlockSource,
    window: IngestWindow,
  ) => Promise<{ staged: number; failed: readonly Failed[] }>,
): Promise<{ staged: number; left: Failed[] }> {
  // A block that could not be staged failed because of its neighbours, in any kind.
  if (failed.some((one) => one.unstaged)) return { staged: 0, left: [...failed] };
  // Nothing of such a block can be proved.
  if (failed.some(({ error }) => isPackhouseError(error, 'FORK_UNKNOWN')))
    return { staged: 0, left: [...failed] };
  let worst = [...failed];
  const suspects = failed.flatMap((one) => one.suspects);
  for (const kinds of lesserKinds(all)) {
    const unsound = suspects
      .filter((suspect) => suspect.kinds.some((kind) => kind === 'blocks' || kinds.includes(kind)))
      .map(({ upstream }) => upstream);
    const sound = unsound.length === 0 ? source : sourceWithout(source, unsound);
    // One block first, so that a whole range is not asked for in vain.
    if (firstBlock < lastBlock && (await tryFetch({ source: sound }, firstBlock, kinds, signal)) !== null)
      continue;
    const again = await stage(sound, { firstBlock, lastBlock, kinds });
    suspects.push(...again.failed.flatMap((one) => one.suspects));
    worst = worst.map((one) => worseOf(one, again.failed));
    if (again.staged === 0) continue;
    const still = new Set(again.failed.map((one) => one.number));
    const rest = all.filter((kind) => !kinds.includes(kind));
    if (failed.every(({ error }) => isPackhouseError(error, 'NODE_METHOD_MISSING')) && still.size === 0) {
      // One upstream may have the methods of some kinds, and another one those of the rest.
      const alone = await stage(source, { firstBlock, lastBlock, kinds: rest });
      return { staged: again.staged, left: [...alone.failed] };
    }
    const left = worst.map((one) => (still.has(one.number) ? one : { ...one, kinds: rest }));
    return { staged: again.staged, left };
  }
  return { staged: 0, left: worst };
}

/**
 * The failure of the same block without a part, if that says more: the part that is left may be false. What every upstream
 * said is kept.
 */
function worseOf(one: Failed, again: readonly Failed[]): Failed {
  const other = again.find(({ number, unstaged }) => number === one.number && !unstaged);
  if (other === undefined) return one;
  const worse = heavier(other.error, one.error) === one.error ? one : other;
  const { kinds } = one;
  return {
    ...worse,
    kinds,
    tried: [...one.tried, ...other.tried],
    suspects: [...one.suspects, ...other.suspects],
  };
}

/** The kinds that remain without traces, receipts, or both; the most first. */
function lesserKinds(kinds: readonly Kind[]): Kind[][] {
  const without = (...removed: Kind[]): Kind[] => kinds.filter((kind) => !removed.includes(kind));
  const choices = [without('traces'), without('receipts', 'logs'), without('receipts', 'logs', 'traces')];
  const seen = new Set([kinds.join(), '']);
  return choices.filter((choice) => {
    const key = choice.join();
    return !seen.has(key) && seen.add(key);
  });
}

/** A source that takes no block from these upstreams. */
function sourceWithout(source: BlockSource, upstreams: readonly string[]): BlockSource {
  const fetchBlock: BlockSource['fetchBlock'] = async (number, wish, { avoid = [], ...more } = {}) => {
    if (!source.status().some(({ name }) => !upstreams.includes(name))) throw nobody(number);
    const fetched = await source.fetchBlock(number, wish, {
      ...more,
      avoid: [...avoid, ...upstreams],
    });
    if (!upstreams.includes(fetched.upstream)) return fetched;
    dropTraces(fetched);
    throw nobody(number);
  };
  return {
    ...source,
    fetchBlock,
    async *fetchBlocks({ firstBlock, lastBlock }, wish, signal): AsyncGenerator<FetchedBlock | FailedBlock> {
      for (let number = firstBlock; number <= lastBlock; number++) {
        try {
          yield await fetchBlock(number, wish, signal === undefined ? {} : { signal });
        } catch (error) {
          signal?.throwIfAborted();
          yield { number, error: error as Error, upstreams: getUpstream(error) };
        }
      }
    },
  };
}

function getUpstream(error: unknown): string[] {
  const name = isPackhouseError(error) ? error.data.upstream : undefined;
  return typeof name === 'string' ? [name] : [];
}

function nobody(block: number): PackhouseError {
  return new PackhouseError({
    code: 'NODE_ANSWER_MISSING',
    message: `Block ${block}: no other upstream gives it.`,
    data: { block },
  });
}
