import type { BlockRange } from '@packhouse/chain';
import type { RowBatch } from '@packhouse/rows';
import { rowsWithin, toPlainBatch } from '@packhouse/rows';
import { systemClock } from '@packhouse/runtime';
import type { FollowStep } from '../client/follow.js';
import { contradiction } from '../feed/links.js';
import { openSink, type SinkTarget } from '../sinks/open-sink.js';
import { cutAt, mismatch, type RowOrigin, type Sink, type SinkOptions } from '../sinks/sink.js';
import type { FollowSink } from './follow-into.js';

export interface RowSinkOptions extends SinkOptions {
  target: SinkTarget;
  /** Adds columns to those of the kind. */
  extend?: ((batch: RowBatch) => RowBatch) | undefined;
  /** At the head, rows are committed once so long has passed: each commit of a folder is a file. Default 5 minutes. */
  commitEveryMs?: number | undefined;
  /** Blocks of a partition: no commit has blocks of two. */
  partition?: number | undefined;
}

/** A folder of Parquet keeps its files: one every five minutes at the head. */
const COMMIT_EVERY_MS = 300_000;
/** Steps that are worth a commit, however few of their rows are wanted. */
const COMMIT_STEPS = 512;

/**
 * A target of `pull` that follows: one kind, and final blocks only (`final: true`), which are never undone. The cursor is
 * kept with the blocks that are committed. Rows of a file that was published again stay as they are, as after a pull.
 * Throws as `openSink`.
 */
export async function createRowSink(options: RowSinkOptions): Promise<FollowSink> {
  const { target, schema, origin, network } = options;
  const sink = await openSink(target, { schema, origin, network });
  if (sink.state.cursor === undefined && sink.state.done.length > 0) {
    await sink.close();
    throw mismatch('The target', 'was filled by a pull that did not follow');
  }
  return new RowFollowSink(sink, options);
}

class RowFollowSink implements FollowSink {
  readonly replaced: { from: number; to: number }[] = [];
  readonly #sink: Sink;
  readonly #options: RowSinkOptions;
  /** Blocks that are written and not committed. */
  #blocks: BlockRange | null = null;
  #rows = 0;
  #steps = 0;
  #cursor: string | undefined;
  #committedAt = systemClock.elapsed();
  #failed = false;
  /** Whether no blocks were taken since it was opened. */
  #resumes = true;

  constructor(sink: Sink, options: RowSinkOptions) {
    this.#sink = sink;
    this.#options = options;
    this.#cursor = sink.state.cursor;
  }

  get cursor(): string | null {
    return this.#cursor || null;
  }

  get rows(): number {
    return this.#sink.state.rows;
  }

  async write(step: FollowStep): Promise<void> {
    this.#failed = true;
    await this.#take(step);
    this.#failed = false;
  }

  async close(): Promise<void> {
    try {
      if (!this.#failed) await this.#commit();
    } finally {
      await this.#sink.close();
    }
  }

  async #take(step: FollowStep): Promise<void> {
    checkOrigin(this.#options.origin, step);
    if (step.step === 'undo')
      throw contradiction(`undoes block ${step.block}, and only final blocks were asked for`);
    if (step.step === 'waiting') {
      const { commitEveryMs = COMMIT_EVERY_MS } = this.#options;
      if (systemClock.elapsed() - this.#committedAt >= commitEveryMs) await this.#commit();
      return;
    }
    if (step.step === 'blocks') await this.#add(step);
    if (step.step === 'repaired') this.replaced.push({ from: step.from, to: step.to });
    this.#cursor = step.cursor;
    this.#steps += 1;
    if (this.#rows >= this.#sink.commitRows || this.#steps >= COMMIT_STEPS) await this.#commit();
  }

  async #add(step: Extract<FollowStep, { step: 'blocks' }>): Promise<void> {
    const { extend, partition } = this.#options;
    const next = ((this.#blocks ?? this.#sink.state.done.at(-1))?.lastBlock ?? -1) + 1;
    // A death after the commit of a partition left the first blocks of this step behind its cursor.
    const mayOverlap = this.#resumes && step.to >= next;
    if (step.from < next && !mayOverlap) {
      throw contradiction(`continues with block ${step.from}, expected ${next}`);
    }
    this.#resumes = false;
    const added = { firstBlock: Math.max(step.from, next), lastBlock: step.to };
    for (const { firstBlock, lastBlock } of cutAt(partition, added)) {
      const isWhole = firstBlock === step.from && lastBlock === step.to;
      const starts = partition !== undefined && firstBlock % partition === 0;
      if (this.#blocks?.lastBlock !== firstBlock - 1 || starts) await this.#commit();
      for (const batch of step.tables.flatMap(({ batches }) => batches)) {
        const own = isWhole ? batch : rowsWithin(batch, firstBlock, lastBlock);
        this.#rows += own.rows;
        await this.#sink.write(extend === undefined ? own : extend(toPlainBatch(own)));
      }
      this.#blocks = { firstBlock: this.#blocks?.firstBlock ?? firstBlock, lastBlock };
    }
  }

  async #commit(): Promise<void> {
    this.#committedAt = systemClock.elapsed();
    if (this.#blocks === null) return;
    // Empty: a part of the first step is committed, and nothing before it.
    this.#sink.state.cursor = this.#cursor ?? '';
    await this.#sink.commit(this.#blocks);
    this.#blocks = null;
    this.#rows = 0;
    this.#steps = 0;
  }
}

function checkOrigin(origin: RowOrigin, step: FollowStep): void {
  const { base, kinds, match } = step.origin;
  const is = JSON.stringify([base, kinds, match]);
  const expected = JSON.stringify([origin.base, [origin.kind], origin.match]);
  if (is !== expected) throw mismatch('The target', `has rows of ${expected}; this follower has ${is}`);
}
