import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Kind } from '@packhouse/chain';
import type {
  FeedStep,
  FinalStep,
  NewStep,
  RepairedStep,
  SkippedStep,
  UndoStep,
  WaitingStep,
} from '@packhouse/manifest';
import { openScope, PackhouseError, systemClock } from '@packhouse/runtime';
import { type BundleSource, type OpenBundles, openBundleSource } from './bundle-source.js';
import { createLinks, type Links, toRange } from './links.js';
import { isOtherBlock, readNewBlock } from './new-block.js';
import type { FollowedTable, FollowOptions } from './read-feed.js';
import { readFeed } from './read-feed.js';

/** Blocks that follow those before, with all wanted rows of them. */
export interface BlocksStep {
  step: 'blocks';
  /** First and last block. */
  from: number;
  to: number;
  /** Of the last block. */
  hash: string;
  /** Of the block before the first one; null: the file begins before. */
  parent: string | null;
  /** Whether they are never undone. */
  final: boolean;
  /** One of a published file; of a new block one for each kind whose next block it is. */
  tables: readonly FollowedTable[];
  cursor: string;
}

/** A published file that was delivered before, with other bytes: these rows take the place of those that it had. */
export interface ReplacedStep {
  step: 'repaired';
  kind: Kind;
  from: number;
  to: number;
  tables: readonly FollowedTable[];
  cursor: string;
}

/** What a follower gets, in block order for each kind. */
export type FollowedStep = BlocksStep | UndoStep | FinalStep | ReplacedStep | WaitingStep | SkippedStep;

/** New blocks whose files are downloaded ahead. */
const AHEAD = 8;
/** How often the feed may send a block whose file is gone, or is another's, and the pause before it is asked again. */
const MAX_GONE = 6;
const GONE_PAUSE_MS = 500;

/** The steps of an answer, with their files. */
interface Loaded {
  steps: readonly FeedStep[];
  bundles: OpenBundles;
}

/**
 * Follows a feed: downloads the files of its steps ahead, checks them and reads their rows. A bundle must be what its
 * signed entry says, the records of a new block must have its hash, and each block must follow the one before.
 * A `waiting` step comes once, not each time that the gateway repeats it. Throws FEED_INVALID, CURSOR_INVALID, CURSOR_FOREIGN, CURSOR_REMOVED,
 * BUNDLE_INVALID, and as `openMirror` and `Http.get`; what was yielded before stays true, and its cursor good.
 */
export async function* followFeed(options: FollowOptions): AsyncGenerator<FollowedStep, void, undefined> {
  const work = await mkdtemp(path.join(tmpdir(), 'packhouse-follow-'));
  const scope = openScope(options.signal);
  const inScope = { ...options, signal: scope.signal };
  const follower: Follower = { options: inScope, links: createLinks(), source: null, work };
  let cursor = options.cursor ?? null;
  let gone = 0;
  let next: Promise<Loaded> | null = null;
  try {
    let waitsFor = '';
    for (;;) {
      const current: Loaded = await (next ?? load(follower, cursor));
      let abandoned: 'gone' | PackhouseError | null = null;
      try {
        // The next answer, and the manifests of its files, come while the files of this one are read.
        next = load(follower, (current.steps.at(-1) as FeedStep).cursor);
        next.catch(() => undefined);
        const news = readAhead(follower, current.steps);
        for (const step of current.steps) {
          scope.signal.throwIfAborted();
          const followed = await deliver(follower, step, current.bundles, news);
          if (followed === 'gone' || followed instanceof PackhouseError) {
            abandoned = followed;
            break;
          }
          cursor = followed.cursor;
          gone = 0;
          const place = followed.step === 'waiting' ? `${followed.block} ${followed.reason}` : '';
          if (place === '' || place !== waitsFor) yield followed;
          waitsFor = place;
        }
      } finally {
        await current.bundles.close();
      }
      if (abandoned === null) continue;
      gone += 1;
      if (gone === MAX_GONE) throw abandoned === 'gone' ? stillGone(cursor) : abandoned;
      await discard(next);
      next = null;
      await systemClock.sleep(GONE_PAUSE_MS, scope.signal);
    }
  } finally {
    scope.abort(new Error('following ended'));
    if (next !== null) await discard(next);
    scope.close();
    await rm(work, { recursive: true, force: true });
  }
}

interface Follower {
  options: FollowOptions;
  links: Links;
  /** Null before the first answer: a cursor that is refused leaves nothing else to ask for. */
  source: Promise<BundleSource> | null;
  work: string;
}

async function load(follower: Follower, cursor: string | null): Promise<Loaded> {
  const { options, work } = follower;
  const open = (): Promise<BundleSource> => {
    follower.source ??= openBundleSource(options, work);
    return follower.source;
  };
  const from = options.from ?? (cursor === null ? await firstBlock(await open(), options.kinds) : 0);
  const steps = await readFeed(options, { ...options, from, cursor }, options.signal);
  const source = await open();
  return { steps, bundles: await source.open(steps.filter((step) => step.step === 'bundle')) };
}

/** The first block that is published of all kinds; 0 if there is none. */
async function firstBlock(source: BundleSource, kinds: readonly Kind[]): Promise<number> {
  const published = [];
  for (const kind of kinds) published.push((await source.refresh(kind)) ?? 0);
  return Math.max(0, ...published);
}

async function discard(loading: Promise<Loaded>): Promise<void> {
  await loading.then(({ bundles }) => bundles.close()).catch(() => undefined);
}

type NewRows = (step: NewStep) => Promise<readonly FollowedTable[] | null>;

/** Reads new blocks, some ahead of the one that is asked for. */
function readAhead({ options, source }: Follower, steps: readonly FeedStep[]): NewRows {
  const news = steps.filter((step) => step.step === 'new');
  const reading = new Map<NewStep, ReturnType<NewRows>>();
  let begun = 0;
  return (asked) => {
    const end = news.indexOf(asked) + AHEAD;
    for (; begun < Math.min(end, news.length); begun += 1) {
      const step = news[begun] as NewStep;
      const rows = (async () => {
        const chainId = await getChainId(options, (await source) as BundleSource);
        return readNewBlock({ ...options, chainId }, step);
      })();
      rows.catch(() => undefined);
      reading.set(step, rows);
    }
    const rows = reading.get(asked) as ReturnType<NewRows>;
    reading.delete(asked);
    return rows;
  };
}

/**
 * What a step becomes. If its block was abandoned since: `gone`, or what is said of the file of the block that took its
 * place, which is an error if the feed keeps sending the block.
 */
async function deliver(
  { links, source, options }: Follower,
  step: FeedStep,
  bundles: OpenBundles,
  news: NewRows,
): Promise<FollowedStep | 'gone' | PackhouseError> {
  const { cursor } = step;
  switch (step.step) {
    case 'bundle': {
      const { entry, table } = await bundles.read(step);
      const parent = step.from === entry.from ? entry.firstParentHash : null;
      const blocks = { from: step.from, to: entry.to, hash: entry.lastHash, parent, final: true };
      links.blocks({ ...blocks, kinds: [step.kind] });
      return { step: 'blocks', ...blocks, tables: [table], cursor };
    }
    case 'new': {
      const { block, hash, parent } = step;
      const tables = await news(step).catch((error: unknown) => {
        if (isOtherBlock(error)) return error;
        throw error;
      });
      if (tables === null) return 'gone';
      if (tables instanceof PackhouseError) return tables;
      const blocks = { from: block, to: block, hash, parent, final: options.final === true };
      links.blocks({ ...blocks, kinds: Object.keys(step.files) as Kind[] });
      return { step: 'blocks', ...blocks, tables, cursor };
    }
    case 'repaired':
      return repaired((await source) as BundleSource, step);
    case 'undo':
      links.undo(step);
      return step;
    case 'final':
      links.final(step);
      return step;
    case 'skipped':
      links.skipped(step.kind, toRange(step.range));
      return step;
    default:
      return step;
  }
}

async function repaired(source: BundleSource, step: RepairedStep): Promise<ReplacedStep> {
  const bundles = await source.open([step]);
  try {
    const { entry, table } = await bundles.read(step);
    const { kind, cursor } = step;
    return { step: 'repaired', kind, from: entry.from, to: entry.to, tables: [table], cursor };
  } finally {
    await bundles.close();
  }
}

const MAX_RPC_BYTES = 65_536;

/** The id of the chain, as the signed manifest has it; from the gateway's node if nothing is published yet. */
async function getChainId(
  { address, http, kinds, signal }: FollowOptions,
  source: BundleSource,
): Promise<number> {
  if (source.chainId === null) await source.refresh(kinds[0] as Kind);
  if (source.chainId !== null) return source.chainId;
  const post = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
  const { result } = JSON.parse(await http.text(address.rpc, MAX_RPC_BYTES, { post, signal })) as {
    result?: unknown;
  };
  if (typeof result === 'string' && /^0x[0-9a-f]{1,13}$/.test(result)) return Number(result);
  throw new PackhouseError({
    code: 'DOWNLOAD_FAILED',
    message: 'Nothing is published yet, and the gateway does not tell the id of the chain by eth_chainId.',
    hint: 'Begin when a first file is published.',
  });
}

function stillGone(cursor: string | null): PackhouseError {
  return new PackhouseError({
    code: 'FEED_INVALID',
    message: `The feed goes on with a block whose file is gone, ${MAX_GONE} times behind the cursor ${cursor}.`,
    hint: 'Tell the operator of the gateway.',
  });
}
