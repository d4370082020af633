import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Kind } from '@packhouse/chain';
import type { BundleStep, RepairedStep, SealedEntry } from '@packhouse/manifest';
import type { CodedBatch } from '@packhouse/rows';
import { hasReceiptColumns, readCodedRows, toSchema } from '@packhouse/rows';
import { getOrAdd } from '@packhouse/runtime';
import { openManifestCopy } from '../manifest/manifest-copy.js';
import { newState, type PullState } from '../manifest/pull-state.js';
import { type Trust, trustedKeys } from '../manifest/trust.js';
import { type Mirror, type MirrorPlan, openMirror } from '../mirror/mirror.js';
import { faultyFile, type MirrorFile, mirrorFiles } from '../mirror/mirror-files.js';
import { openReceipts, type ReceiptSource } from '../rows/read-receipts.js';
import { openRowSources } from '../rows/row-sources.js';
import { skipFiles } from '../rows/skip-files.js';
import { contradiction, toRange } from './links.js';
import { type FollowedTable, type FollowOptions, matchOf } from './read-feed.js';

type FileStep = BundleStep | RepairedStep;

/** A bundle of a step, with its signed entry. */
interface ReadBundle {
  entry: SealedEntry;
  table: FollowedTable;
}

/** The bundles of the steps of one answer. */
export interface OpenBundles {
  /** The rows of the next step of its kind, from its first new block on. Throws FEED_INVALID, BUNDLE_INVALID, and as `mirrorFiles`. */
  read(step: FileStep): Promise<ReadBundle>;
  /** Ends the downloads, and removes what is temporary. */
  close(): Promise<void>;
}

/** Where the bundles of a feed come from. */
export interface BundleSource {
  /** The id of the chain, as the signed manifest has it; null: nothing was published when this was asked last. */
  readonly chainId: number | null;
  /** Downloads begin when the first is read. Throws FEED_INVALID, MANIFEST_INVALID, and as `Http.get`. */
  open(steps: readonly FileStep[]): Promise<OpenBundles>;
  /** Asks for the newest signed entry of a kind. Returns the first published block; null: nothing is published. */
  refresh(kind: Kind): Promise<number | null>;
  readonly trust: Trust;
}

/**
 * Opens the source of bundles in `work`. Without a folder to keep, a manifest is remembered only for the files of one
 * answer, and its head from then on: memory does not grow with the history.
 */
export async function openBundleSource(options: FollowOptions, work: string): Promise<BundleSource> {
  const { address, http, folder, signal } = options;
  const trust = await trustedKeys(null, options, signal);
  const heads = new Map<Kind, PullState>();
  const open = async (kind: Kind): Promise<{ mirror: Mirror; remove(): Promise<void> }> => {
    const { trustKeyFile } = options;
    if (folder !== undefined) {
      const kept = path.join(folder, kind);
      const mirror = await openMirror({ address, http, folder: kept, kind, trustKeyFile, signal });
      return { mirror, remove: async () => undefined };
    }
    const before = heads.get(kind);
    const state: PullState = { ...newState(address.base, kind), ...known(before) };
    const manifest = await openManifestCopy({ address, http, folder: null, state, keys: trust.keys });
    const passing = await mkdtemp(path.join(work, `${kind}-`));
    const log = { state, trust, manifest };
    const mirror = await openMirror({ address, http, log, folder: passing, kind, trustKeyFile, signal });
    return { mirror, remove: () => rm(passing, { recursive: true, force: true }) };
  };
  const openKind = async (kind: Kind, steps: readonly FileStep[]): Promise<KindFiles> => {
    const { mirror, remove } = await open(kind);
    const close = async (): Promise<void> => {
      await mirror.close();
      await remove();
    };
    try {
      heads.set(kind, mirror.state);
      const plan = await planSteps(options, mirror, steps);
      return await readKind(options, mirror, plan, close);
    } catch (error) {
      await close();
      throw error;
    }
  };
  return {
    trust,
    get chainId() {
      for (const { log } of heads.values()) if (log !== null) return log.chainId;
      return null;
    },
    async refresh(kind) {
      const { mirror, remove } = await open(kind);
      heads.set(kind, mirror.state);
      await mirror.close();
      await remove();
      return mirror.state.head?.firstBlock ?? null;
    },
    async open(steps) {
      const byKind = new Map<Kind, FileStep[]>();
      for (const step of steps) getOrAdd(byKind, step.kind, () => []).push(step);
      const opening = [...byKind].map(async ([kind, own]) => [kind, await openKind(kind, own)] as const);
      const settled = await Promise.allSettled(opening);
      const files = new Map(settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
      const close = async (): Promise<void> => {
        await Promise.all([...files.values()].map((each) => each.close()));
      };
      const failed = settled.find((each) => each.status === 'rejected');
      if (failed !== undefined) {
        await close();
        throw failed.reason;
      }
      return { read: (step) => (files.get(step.kind) as KindFiles).read(step), close };
    },
  };
}

function known(before: PullState | undefined): Pick<PullState, 'log' | 'head'> | undefined {
  return before === undefined ? undefined : { log: before.log, head: before.head };
}

/** The plan of the files of steps of one kind. Throws FEED_INVALID if the signed manifest does not have one of them. */
async function planSteps(
  { match, folder, signal }: FollowOptions,
  mirror: Mirror,
  steps: readonly FileStep[],
): Promise<MirrorPlan> {
  const { manifest, state, options } = mirror;
  const ranges = steps.map(({ range }) => toRange(range));
  const range = {
    firstBlock: Math.min(...ranges.map(({ firstBlock }) => firstBlock)),
    lastBlock: Math.max(...ranges.map(({ lastBlock }) => lastBlock)),
  };
  await manifest.cover(range, signal);
  const chosen = new Map<number, number>();
  for (const row of manifest.rows.choose(range)) chosen.set(manifest.rows.at(row).firstBlock, row);
  const rows = Uint32Array.from(ranges, ({ firstBlock, lastBlock }) => {
    const row = chosen.get(firstBlock);
    if (row !== undefined && manifest.rows.at(row).lastBlock === lastBlock) return row;
    throw contradiction(
      `has the file ${firstBlock}-${lastBlock} of ${options.kind}, and the signed manifest has none with these blocks`,
    );
  });
  const bytes = rows.reduce((sum, row) => sum + manifest.rows.at(row).bytes, 0);
  const plan: MirrorPlan = {
    range,
    network: state.log?.network ?? '',
    rows,
    present: new Uint8Array(rows.length),
    check: false,
    files: rows.length,
    bytes,
    presentFiles: 0,
    presentBytes: 0,
    holes: [],
    limitedTo: null,
  };
  return skipFiles(mirror, plan, matchOf(options.kind, match), { parts: folder === undefined });
}

interface KindFiles {
  read(step: FileStep): Promise<ReadBundle>;
  close(): Promise<void>;
}

async function readKind(
  { match, folder }: FollowOptions,
  mirror: Mirror,
  plan: MirrorPlan,
  closeMirror: () => Promise<void>,
): Promise<KindFiles> {
  const { kind } = mirror.options;
  const keep = folder !== undefined;
  const files = mirrorFiles(mirror, plan);
  const sourcesOf = openRowSources(mirror, plan);
  const beside = path.join(mirror.options.folder, 'of-receipts');
  const receipts: ReceiptSource | null = hasReceiptColumns(toSchema(kind))
    ? await openReceipts(mirror, plan, { folder: beside, keep })
    : null;
  const rowsOf = async (file: MirrorFile, from: number, to: number): Promise<FollowedTable> => {
    const batches: CodedBatch[] = [];
    for (const source of sourcesOf(file)) {
      const wanted = { kind, from, to, match: matchOf(kind, match), receipts: receipts?.of };
      for await (const batch of readCodedRows({ ...source, ...wanted })) batches.push(batch);
    }
    return { kind, batches, rows: batches.reduce((sum, { rows }) => sum + rows, 0) };
  };
  return {
    async read(step) {
      const { done, value: file } = await files.next();
      if (done === true) throw contradiction(`has no file of ${kind} any more`);
      if (file.state === 'faulty') throw faultyFile(file);
      const { entry } = file;
      // Published again since the step was sent: another step says so.
      if (entry.sha256 !== step.sha256 && entry.version === 1) {
        throw contradiction(
          `has the SHA-256 ${step.sha256} of the file ${step.range} of ${kind}, and its signed entry ${entry.sha256}`,
        );
      }
      const from = step.step === 'bundle' ? step.from : entry.from;
      if (from < entry.from || from > entry.to) {
        throw contradiction(`begins the file ${step.range} of ${kind} at block ${from}`);
      }
      const table = await rowsOf(file, from, entry.to);
      if (!keep) await rm(file.path, { force: true });
      return { entry, table };
    },
    async close() {
      await files.return(undefined);
      await receipts?.close();
      await closeMirror();
    },
  };
}
