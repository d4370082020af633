import { KINDS, type Kind } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import type { FeedStep } from '@packhouse/manifest';
import type { QueueReader } from '@packhouse/queue';
import { type CallSignal, type Context, PackhouseError } from '@packhouse/runtime';
import type { ChangeSource } from './changes.js';
import { type Cursors, createCursors, type FeedState } from './cursor.js';
import {
  createReader,
  type FeedOptions,
  getLowest,
  type Hold,
  type Reader,
  readForward,
  removed,
} from './read-steps.js';
import { reportFinal, reportRepairs, undoAbandoned } from './settle.js';
import type { View } from './view.js';
import { createWatch } from './watch.js';

/** The steps behind a cursor. */
export interface FeedPage {
  steps: FeedStep[];
  /** Behind the last step. */
  cursor: string;
  /** Whether nothing more is there now: the last step is `waiting`. */
  waits: boolean;
  /** Whether the plan of the reader ends behind the last step. */
  ends: boolean;
  /** For `changed`. */
  place: { serial: number; block: number };
}

/** The feeds of one network in one process. */
export type Feed = ReturnType<typeof createFeed>;

/** How often an answer begins anew because the chain moved while it was read. */
const ATTEMPTS = 3;

/** The answers of cursors that are older are not shared. */
const SHARED_SECONDS = 3_600;

/**
 * Creates the feeds of a network: what was published, staged, undone, made final and repaired behind a cursor, in order.
 *
 * A cursor is all that a feed is: nothing is kept of it here. What is at the head is read once for all feeds (see Watch).
 */
export function createFeed(parts: {
  context: Context;
  database: Database;
  network: string;
  changes: ChangeSource;
  queue?: Pick<QueueReader, 'peek'> | undefined;
}) {
  const { context, database, network, changes, queue } = parts;
  const reads = database.network(network);
  const watch = createWatch({ context, reads: reads.feed, network, changes });
  const stepsTotal = context.metrics.counter('packhouse_feed_steps_total', 'Steps of feeds that were read', [
    'network',
    'step',
  ]);
  let cursors: Promise<Cursors> | undefined;
  const getCursors = (): Promise<Cursors> => {
    cursors ??= database.operators.seal().then((seal) => createCursors({ seal, network }));
    // What failed is read again.
    cursors.catch(() => {
      cursors = undefined;
    });
    return cursors;
  };

  /** The steps behind a state, by this view or one that is read meanwhile. */
  const readPage = async (first: View, from: FeedState, options: FeedOptions): Promise<FeedPage> => {
    const { encode } = await getCursors();
    let view = first;
    for (let attempt = 1; ; attempt += 1) {
      const read = { network, database: reads, coverage: { database, queue }, view, encode };
      const reader = createReader(read, copyState(from), options);
      const hold = await readAll(reader, context.clock.now());
      if (hold?.is === 'moved' && reader.steps.length === 0 && attempt < ATTEMPTS) {
        view = await watch.refresh();
        continue;
      }
      const waits = finish(reader, hold);
      return {
        steps: reader.steps,
        cursor: (reader.steps.at(-1) as FeedStep).cursor,
        waits,
        ends: hold?.is === 'beyond-plan',
        place: { serial: view.serial, block: getLowest(reader.state).block },
      };
    }
  };

  return {
    /** The cursor of a feed that begins with a block. */
    async begin({ kinds, from }: { kinds: readonly Kind[]; from: number }): Promise<string> {
      const [{ window }, { encode }] = await Promise.all([watch.current(), getCursors()]);
      const wanted = KINDS.filter((kind) => kinds.includes(kind));
      return encode({
        kinds: wanted,
        start: from,
        next: new Map(wanted.map((kind) => [kind, from])),
        seen: new Map(wanted.map((kind) => [kind, window.repairs.get(kind)?.at(-1)?.sequence ?? -1])),
        base: { block: from - 1, hash: null },
        tip: null,
        madeAt: toSeconds(context.clock.now()),
      });
    },
    /** The kinds of a cursor, and the lowest of their next blocks. Throws CURSOR_INVALID, CURSOR_FOREIGN. */
    async inspect(cursor: string): Promise<{ kinds: readonly Kind[]; next: number }> {
      const state = (await getCursors()).decode(cursor);
      return { kinds: state.kinds, next: getLowest(state).block };
    },
    /**
     * The steps behind a cursor, `limit` at most; always one at least. Throws CURSOR_INVALID, CURSOR_FOREIGN,
     * CURSOR_REMOVED, and PLAN_LIMIT if the next block is beyond `maxBlock`. `woken`: what was read last is new enough.
     */
    async read(cursor: string, { woken, ...options }: FeedOptions & { woken?: boolean }): Promise<FeedPage> {
      const { decode } = await getCursors();
      const view = (woken === true ? watch.latest() : undefined) ?? (await watch.current());
      const state = decode(cursor);
      // Those who wait at the head stand at the same place, and get the same steps. What an old one is told depends on
      // how old it is: see undoAbandoned.
      const isNew = toSeconds(context.clock.now()) - state.madeAt < SHARED_SECONDS;
      const page =
        isNew && getLowest(state).block >= view.window.floor
          ? await view.once(toQuestion(state, options), () => readPage(view, state, options))
          : await readPage(view, state, options);
      for (const { step } of page.steps) stepsTotal.inc({ network, step });
      return page;
    },
    /** Resolves when `read` may answer something else than this page; see Watch. */
    changed: (page: FeedPage, how: { withinMs: number; signal?: CallSignal | undefined }): Promise<boolean> =>
      watch.changed(page.place, how),
    /** Ends the waiting of all feeds. */
    close: (): void => watch.close(),
  };
}

/** A state without when it was written, and what is wanted: those who ask the same get the same steps. */
function toQuestion({ madeAt: _, next, seen, ...state }: FeedState, options: FeedOptions): string {
  return JSON.stringify([state, [...next], [...seen], options]);
}

const copyState = ({ next, seen, ...state }: FeedState): FeedState => ({
  ...state,
  next: new Map(next),
  seen: new Map(seen),
});

const toSeconds = (ms: number): number => Math.floor(ms / 1_000);

/** All steps of an answer: what became of delivered blocks, then what is new. */
async function readAll(reader: Reader, now: number): Promise<Hold | null> {
  if (await undoAbandoned(reader, now)) return null;
  reader.state.madeAt = toSeconds(now);
  if (await reportRepairs(reader)) return null;
  reportFinal(reader);
  const hold = await readForward(reader);
  reportFinal(reader);
  return hold;
}

/** Says at the end of an answer what is waited for; returns whether something is. Throws CURSOR_REMOVED, PLAN_LIMIT. */
function finish(reader: Reader, hold: Hold | null): boolean {
  const { network, steps, options } = reader;
  if (hold === null || (steps.length > 0 && hold.is !== 'waiting') || reader.isFull()) return false;
  if (hold.is === 'beyond-plan') throw planLimit(network, hold.block, options.maxBlock);
  if (hold.is === 'moved' && hold.unlinked) throw removed(reader);
  const { block, kinds } = hold;
  const { reason, detail } =
    hold.is === 'waiting'
      ? hold
      : { reason: 'staged', detail: `Block ${block} of ${network} is being staged or published; ask again.` };
  reader.push({ step: 'waiting', block, reason, detail, kinds });
  return hold.is === 'waiting';
}

function planLimit(network: string, block: number, maxBlock: number | null): PackhouseError {
  return new PackhouseError({
    code: 'PLAN_LIMIT',
    message: `The feed of ${network} ends at block ${block}: the plan includes blocks up to ${maxBlock}, and the next file goes beyond.`,
    hint: 'Single blocks up to there have files of their own, by their pointers.',
    data: { network, block, maxBlock },
  });
}
