import { KINDS, type Kind } from '@packhouse/chain';
import type { Hole, NetworkDatabase, PublishedFile } from '@packhouse/database';
import { type FeedStep, newBlockFile, type WaitingStep } from '@packhouse/manifest';
import { type CoverageParts, holeAt, holeNeeds } from '@packhouse/report';
import { PackhouseError } from '@packhouse/runtime';
import type { FeedState } from './cursor.js';
import { holding, indexStaged, type StagedHere, type View } from './view.js';

/** What a reader of a feed wants. */
export interface FeedOptions {
  /** `only`: nothing that can still be undone. */
  final: 'only' | 'all';
  /** Leaves out blocks that nobody is about to fetch. */
  skipHoles: boolean;
  /** Most steps. */
  limit: number;
  /** The last block that the reader may have; null: all. */
  maxBlock: number | null;
  /** Links begin with it, `…/files`. */
  downloadUrl: string;
}

/** What steps are read from. */
interface ReadParts {
  network: string;
  database: NetworkDatabase;
  coverage: CoverageParts;
  view: View;
  encode(state: FeedState): string;
}

/** A step before it has its cursor. */
type NewFeedStep = FeedStep extends infer Step
  ? Step extends FeedStep
    ? Omit<Step, 'cursor'>
    : never
  : never;

/** The steps of one answer; each moves the state, and its cursor is that of the state behind it. */
export interface Reader extends ReadParts {
  readonly state: FeedState;
  readonly options: FeedOptions;
  readonly steps: FeedStep[];
  isFull(): boolean;
  push(step: NewFeedStep): void;
}

/** Why nothing more can be delivered now. */
export type Hold =
  | (Pick<WaitingStep, 'block' | 'reason' | 'detail'> & { is: 'waiting'; kinds: Kind[] })
  /**
   * What was read at different times does not fit together: a staged block is not the child of the one before
   * (`unlinked`), or a block was staged or published meanwhile.
   */
  | { is: 'moved'; block: number; kinds: Kind[]; unlinked: boolean }
  /** The plan ends before it. */
  | { is: 'beyond-plan'; block: number };

/** Published files, and staged blocks, that are read at a time where the window does not reach. */
const FILES = 1_000;
const STAGED = 256;

/** Reasons of holes that nothing ends by itself within a short time. */
const SKIPPED: ReadonlySet<string> = new Set(['quarantined', 'not-requested', 'cancelled', 'paused']);

/** Creates the reader of one answer. */
export function createReader(parts: ReadParts, state: FeedState, options: FeedOptions): Reader {
  const steps: FeedStep[] = [];
  return {
    ...parts,
    state,
    options,
    steps,
    isFull: () => steps.length >= options.limit,
    push: (step) => void steps.push({ ...step, cursor: parts.encode(state) } as FeedStep),
  };
}

/** The lowest next block, and the kinds that stand there. */
export function getLowest({ kinds, next }: Pick<FeedState, 'kinds' | 'next'>): {
  block: number;
  kinds: Kind[];
} {
  const block = Math.min(...next.values());
  return { block, kinds: kinds.filter((kind) => next.get(kind) === block) };
}

/**
 * Delivers what is there from the lowest next block on, until the answer is full (null) or something holds the feed: the
 * published file of a kind, or else the staged block for all kinds that stand there and have it.
 */
export async function readForward(reader: Reader): Promise<Hold | null> {
  const { state, view, options } = reader;
  const history = createHistory(reader);
  while (!reader.isFull()) {
    const { block, kinds } = getLowest(state);
    const isFinal = block <= view.window.finalized;
    if (options.maxBlock !== null && block > options.maxBlock) return { is: 'beyond-plan', block };
    const file = isFinal ? await firstFile(history, kinds, block) : undefined;
    if (file !== undefined) {
      if (options.maxBlock !== null && file.file.lastBlock > options.maxBlock)
        return { is: 'beyond-plan', block };
      pushBundle(reader, file.kind, file.file, block);
      continue;
    }
    if (!isFinal && options.final === 'only') return waiting(block, kinds, notFinal(reader, block));
    const staged = await history.staged(block);
    const having = kinds.filter((kind) => staged?.kinds.includes(kind));
    if (staged !== undefined && having.length > 0) {
      if (!follows(state, staged)) return { is: 'moved', block, kinds, unlinked: true };
      pushNew(reader, staged, having);
      continue;
    }
    const hold = await holdAt(reader, history, block, kinds);
    if (hold !== null) return hold;
  }
  return null;
}

async function firstFile(
  history: History,
  kinds: readonly Kind[],
  block: number,
): Promise<{ kind: Kind; file: PublishedFile } | undefined> {
  for (const kind of kinds) {
    const file = await history.file(kind, block);
    if (file !== undefined) return { kind, file };
  }
  return undefined;
}

function pushBundle(reader: Reader, kind: Kind, file: PublishedFile, from: number): void {
  const { state, options } = reader;
  const { firstBlock, lastBlock, sha256, byteLength: bytes, lastHash } = file;
  const range = `${firstBlock}-${lastBlock}`;
  state.next.set(kind, lastBlock + 1);
  if (lastBlock > state.base.block) state.base = { block: lastBlock, hash: lastHash };
  if (state.tip !== null && state.tip.block <= state.base.block) state.tip = null;
  const download_link = `${options.downloadUrl}/${kind}/${range}.json.gz`;
  reader.push({ step: 'bundle', kind, range, from, download_link, sha256, bytes });
}

function pushNew(
  reader: Reader,
  { number: block, hash, parentHash: parent }: StagedHere,
  kinds: Kind[],
): void {
  const { state, options } = reader;
  for (const kind of kinds) state.next.set(kind, block + 1);
  if (block > state.base.block && block > (state.tip?.block ?? -1)) state.tip = { block, hash };
  const files = Object.fromEntries(
    kinds.map((kind) => [kind, `${options.downloadUrl}/${kind}/${newBlockFile(block, hash)}`]),
  );
  reader.push({ step: 'new', block, hash, parent, files });
}

/** Whether a block fits the blocks that were delivered before it. */
function follows({ tip, base }: FeedState, { number, hash, parentHash }: StagedHere): boolean {
  for (const known of [tip, base]) {
    if (known === null || known.hash === null) continue;
    if (known.block === number && known.hash !== hash) return false;
    if (known.block === number - 1 && known.hash !== parentHash) return false;
  }
  return true;
}

/** What holds the feed at a block that is in no file and not staged; null: nothing, look again. */
async function holdAt(reader: Reader, history: History, block: number, kinds: Kind[]): Promise<Hold | null> {
  const { view, network, coverage, state } = reader;
  const { window } = view;
  if (block > window.head || (window.halted && block > window.finalized))
    return waiting(block, kinds, notProduced(reader, block));
  const [kind] = kinds as [Kind, ...Kind[]];
  // It may have been published, and its staged rows dropped, between the two looks.
  if (await history.again(kind, block)) return null;
  const { hole } = await view.once(`hole ${kind} ${block}`, () =>
    holeAt(coverage, { network, kind, block, lastBlock: Math.max(block, window.head) }),
  );
  if (hole === null || hole.staged) return { is: 'moved', block, kinds, unlinked: false };
  if (reader.options.skipHoles && SKIPPED.has(hole.reason)) {
    const lastBlock = Math.min(hole.lastBlock, reader.options.maxBlock ?? hole.lastBlock);
    state.next.set(kind, lastBlock + 1);
    reader.push({ step: 'skipped', kind, range: `${block}-${lastBlock}`, reason: hole.reason });
    return null;
  }
  return waiting(block, kinds, { reason: hole.reason, detail: holeDetail(network, kind, block, hole) });
}

const waiting = (block: number, kinds: Kind[], why: { reason: string; detail: string }): Hold => ({
  is: 'waiting',
  block,
  kinds,
  ...why,
});

function holeDetail(network: string, kind: Kind, block: number, hole: Hole): string {
  return `Block ${block} of ${network} is not there for ${kind} (${hole.reason}): ${holeNeeds(hole)}.`;
}

function notProduced({ view: { window }, network }: Reader, block: number) {
  if (window.halted) {
    return {
      reason: 'halted',
      detail: `Block ${block} of ${network} is not fetched until the alarm about a reorganisation below finality is settled.`,
    };
  }
  return {
    reason: 'not-produced',
    detail: `Block ${block} of ${network} is above the head, ${window.head < 0 ? 'which is not known yet' : `block ${window.head}`}.`,
  };
}

function notFinal(reader: Reader, block: number) {
  const { window } = reader.view;
  if (block > window.head || window.halted) return notProduced(reader, block);
  return {
    reason: 'not-final',
    detail: `Block ${block} of ${reader.network} is not final yet; the newest final one is block ${window.finalized}.`,
  };
}

/** What is published and staged, of the window or read a page at a time. */
type History = ReturnType<typeof createHistory>;

function createHistory({ view, database, options, steps, state }: Reader) {
  const { floor } = view.window;
  const pages = new Map<Kind, { from: number; end: number; files: PublishedFile[] }>();
  let part: { from: number; end: number; find: (block: number) => StagedHere | undefined } | undefined;

  const load = async (kind: Kind, block: number, limit: number): Promise<PublishedFile | undefined> => {
    const range = { firstBlock: block, lastBlock: Number.MAX_SAFE_INTEGER };
    const files = await database.bundles.files(kind, range, limit);
    // A page that is not full has all there is.
    const end = files.length < limit ? floor - 1 : (files.at(-1)?.lastBlock ?? floor - 1);
    pages.set(kind, { from: block, end, files });
    return holding(files, block);
  };
  return {
    async file(kind: Kind, block: number): Promise<PublishedFile | undefined> {
      if (block >= floor) return view.bundle(kind, block);
      const page = pages.get(kind);
      if (page !== undefined && page.from <= block && block <= page.end) return holding(page.files, block);
      // The kinds share what is left of the answer.
      const share = Math.ceil((options.limit - steps.length) / state.kinds.length);
      return load(kind, block, Math.min(FILES, share + 1));
    },
    async staged(block: number): Promise<StagedHere | undefined> {
      if (block >= floor) return view.staged(block);
      if (part === undefined || block < part.from || block > part.end) {
        const range = { firstBlock: block, lastBlock: Math.min(block + STAGED, floor) - 1 };
        part = { from: block, end: range.lastBlock, find: indexStaged(await database.feed.staged(range)) };
      }
      return part.find(block);
    },
    /** Whether a block below the window is published by now. */
    again: async (kind: Kind, block: number): Promise<boolean> =>
      block < floor && (await load(kind, block, 1)) !== undefined,
  };
}

/** The error for a cursor whose final blocks are no longer in the chain. */
export function removed({ network, state }: Pick<Reader, 'network' | 'state'>): PackhouseError {
  const { block, hash } = state.base;
  return new PackhouseError({
    code: 'CURSOR_REMOVED',
    message: `The feed of ${network} cannot go on: block ${block} with hash ${hash}, which was final, is no longer in the chain.`,
    hint: 'An operator accepted another chain below finality: begin again with a block before it.',
    data: { network, block, hash, kinds: KINDS.filter((kind) => state.kinds.includes(kind)) },
  });
}
