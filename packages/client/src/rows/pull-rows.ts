import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { type BlockRange, subtractRanges, unionRanges } from '@packhouse/chain';
import type { Match, RowBatch, Schema } from '@packhouse/rows';
import { readCodedRows, toPlainBatch } from '@packhouse/rows';
import { getTarget, type Mirror, type MirrorPlan } from '../mirror/mirror.js';
import { type MirrorFile, mirrorFiles } from '../mirror/mirror-files.js';
import { cutAt, mismatch, type Sink } from '../sinks/sink.js';
import type { ReceiptSource } from './read-receipts.js';
import { openRowSources } from './row-sources.js';

/** Bytes of files that are worth a commit, however few of their rows are wanted: they are on the disk until then. */
const COMMIT_BYTES = 536_870_912;

interface PullRows {
  mirror: Mirror;
  /** Made without the files that the sink has the rows of. */
  plan: MirrorPlan;
  sink: Sink;
  match: Match;
  /** The columns without those of `extend`; absent: those of the kind. */
  schema?: Schema;
  /** The receipts of the range, for columns of transactions that have them. */
  receipts?: ReceiptSource | undefined;
  /** Whether files stay in the mirror after their rows are in the sink. */
  keep: boolean;
  /** Blocks of a partition: no commit has blocks of two. */
  partition?: number | undefined;
  /** Adds columns to those of the kind. */
  extend?: ((batch: RowBatch) => RowBatch) | undefined;
  onBytes?: ((bytes: number) => void) | undefined;
  commitBytes?: number;
}

/**
 * Puts the rows of a plan's files into a sink, each block once, and yields the files. A faulty file is left out, and
 * asked for again by the next run; of one that the plan leaves out the sink gets the blocks without rows. Throws as `mirrorFiles` and the sink.
 */
export async function* pullRows(pull: PullRows): AsyncGenerator<MirrorFile, void, undefined> {
  const { mirror, plan, sink, keep, partition, commitBytes = COMMIT_BYTES } = pull;
  if (sink.state.cursor !== undefined) throw mismatch('The target', 'follows a feed: pull with --follow');
  if (!keep) await removeRead(pull);
  /** Blocks whose rows are written and not committed: they follow each other. */
  const written: { blocks: BlockRange | null; rows: number; bytes: number } = {
    blocks: null,
    rows: 0,
    bytes: 0,
  };
  const read: string[] = [];
  const commit = async (): Promise<void> => {
    if (written.blocks !== null) await sink.commit(written.blocks);
    Object.assign(written, { blocks: null, rows: 0, bytes: 0 });
    if (!keep) for (const file of read) await rm(file, { force: true });
    read.length = 0;
  };
  const sourcesOf = openRowSources(mirror, plan);
  for await (const file of mirrorFiles(mirror, plan, pull.onBytes)) {
    if (file.state !== 'faulty') {
      for (const blocks of missingBlocks(pull, file.range)) {
        const follows = written.blocks !== null && written.blocks.lastBlock + 1 === blocks.firstBlock;
        const startsPartition = partition !== undefined && blocks.firstBlock % partition === 0;
        if (!follows || startsPartition) await commit();
        written.rows += await writeRows(pull, sourcesOf(file), blocks);
        written.blocks = {
          firstBlock: written.blocks?.firstBlock ?? blocks.firstBlock,
          lastBlock: blocks.lastBlock,
        };
      }
      if (file.state === 'partial') {
        for (const { bytes } of file.parts) written.bytes += bytes.length;
      } else if (file.state !== 'skipped') {
        read.push(file.path);
        written.bytes += file.entry.bytes;
      }
      if (written.rows >= sink.commitRows || written.bytes >= commitBytes) await commit();
    }
    yield file;
  }
  await commit();
}

/** Removes files that a killed run downloaded and committed the rows of, and did not remove. */
async function removeRead({ mirror, sink }: PullRows): Promise<void> {
  const { options, manifest, done } = mirror;
  const names = new Set(await readdir(path.join(options.folder, options.kind)));
  for (let row = 0; row < manifest.rows.count; row += 1) {
    const bundle = manifest.rows.at(row);
    if (!done.marked(bundle.sequence)) continue;
    const file = getTarget(options, bundle);
    const read = names.has(path.basename(file)) && subtractRanges([bundle], sink.state.done).length === 0;
    if (read) await rm(file, { force: true });
  }
}

/**
 * Blocks whose rows a sink has from a bundle that was published again since; to be called before a pull. Those rows
 * are not changed: they may be in files and tables that somebody uses.
 */
export async function findReplaced(
  { manifest, options, ...mirror }: Mirror,
  { state }: Sink,
): Promise<readonly BlockRange[]> {
  const [first, last] = [state.done[0], state.done.at(-1)];
  if (first !== undefined && last !== undefined) {
    await manifest.cover({ firstBlock: first.firstBlock, lastBlock: last.lastBlock }, options.signal);
  }
  for (let index = 0; index < manifest.rows.count; index += 1) {
    const { firstBlock, lastBlock, version, sequence } = manifest.rows.at(index);
    if (sequence < state.entries) continue;
    const isIn = state.done.some(
      (blocks) => blocks.firstBlock <= lastBlock && blocks.lastBlock >= firstBlock,
    );
    if (version > 1 && isIn) state.replaced = unionRanges([...state.replaced, { firstBlock, lastBlock }]);
  }
  state.entries = (mirror.state.head?.sequence ?? -1) + 1;
  return state.replaced;
}

/** What of a file's blocks is asked for and not in the sink, cut where partitions begin. */
function missingBlocks({ plan, sink, partition }: PullRows, file: BlockRange): BlockRange[] {
  const firstBlock = Math.max(file.firstBlock, plan.range.firstBlock);
  const lastBlock = Math.min(file.lastBlock, plan.range.lastBlock);
  const missing = firstBlock > lastBlock ? [] : subtractRanges([{ firstBlock, lastBlock }], sink.state.done);
  return missing.flatMap((range) => cutAt(partition, range));
}

async function writeRows(
  { mirror, sink, match, schema, receipts, extend }: PullRows,
  sources: ReturnType<ReturnType<typeof openRowSources>>,
  { firstBlock, lastBlock }: BlockRange,
): Promise<number> {
  const { kind, signal } = mirror.options;
  let rows = 0;
  for (const source of sources) {
    for await (const batch of readCodedRows({
      ...source,
      kind,
      ...(schema === undefined ? {} : { schema }),
      receipts: receipts?.of,
      from: firstBlock,
      to: lastBlock,
      match,
    })) {
      signal.throwIfAborted();
      rows += batch.rows;
      await sink.write(extend === undefined ? batch : extend(toPlainBatch(batch)));
    }
  }
  return rows;
}
