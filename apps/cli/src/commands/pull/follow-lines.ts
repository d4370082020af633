import type { FollowSink, FollowStep } from '@packhouse/client';
import { type PackhouseError, systemClock } from '@packhouse/runtime';
import { counted, formatCount, formatDuration, formatRange } from '../../terminal/format.js';
import { type CliIo, print, write } from '../../terminal/io.js';

/** What a follower says: lines on stderr, or with --json an object for each step on stdout. */
export interface FollowLines {
  say(text: string): void;
  /** A step that the target took. */
  step(step: FollowStep, sink: FollowSink): Promise<void>;
  /** History is loaded. */
  loaded(rows: number): void;
  /** The target went away, and is tried again. */
  away(error: PackhouseError, seconds: number): void;
  back(): void;
}

/** Between two lines of progress, in milliseconds. */
const SELDOM_MS = 10_000;
const AT_HEAD: ReadonlySet<string> = new Set(['not-produced', 'not-final', 'not-finalized']);

/** Creates the lines of a follower. */
export function createFollowLines(io: CliIo, json: boolean): FollowLines {
  let printedAt = systemClock.elapsed();
  let isAway = false;
  /** The hole that was named last. */
  let hole: string | null = null;
  let atHead = false;
  const say = (text: string): void => {
    if (!json) io.stderr.write(`${text}\n`);
  };
  const waiting = ({ block, reason, detail, kinds }: Extract<FollowStep, { step: 'waiting' }>): void => {
    if (AT_HEAD.has(reason)) {
      if (!atHead) say(`At the head: waiting for block ${formatCount(block)}.`);
      atHead = true;
      return;
    }
    hole = `block ${formatCount(block)} of ${kinds.join(', ')}`;
    say(`Waiting for ${hole}: ${reason}${detail === '' ? '' : ` (${detail.replace(/\.$/, '')})`}.`);
  };
  const text = (step: FollowStep, sink: FollowSink): void => {
    if (hole !== null && step.step !== 'waiting') {
      say(`No longer waiting for ${hole}.`);
      hole = null;
    }
    switch (step.step) {
      case 'waiting':
        waiting(step);
        return;
      case 'undo':
        say(
          `Undone by a reorganisation: block ${formatCount(step.block)}. Now at block ${formatCount(step.to.block)}.`,
        );
        return;
      case 'repaired':
        say(`Republished: blocks ${formatRange(step.from, step.to)} of ${step.kind}.`);
        return;
      case 'skipped':
        say(`Left out: blocks ${step.range} of ${step.kind}, ${step.reason}.`);
        return;
      case 'blocks':
        if (systemClock.elapsed() - printedAt < SELDOM_MS) return;
        printedAt = systemClock.elapsed();
        say(`Block ${formatCount(step.to)}, ${counted(sink.rows, 'row')} committed.`);
        return;
      default:
    }
  };
  return {
    say,
    async step(step, sink) {
      if (json) await print(io, toEvent(step, sink));
      else text(step, sink);
    },
    loaded(rows) {
      if (json) write(io, { event: 'loaded', rows });
      else say(`History is loaded: ${counted(rows, 'row')}, with keys and indexes now.`);
    },
    away({ message }, seconds) {
      if (json) write(io, { event: 'away', message, seconds });
      else if (!isAway) say(`${message.replace(/\.$/, '')}; retrying in ${formatDuration(seconds)}.`);
      isAway = true;
    },
    back() {
      if (isAway) say('The target is there again.');
      isAway = false;
    },
  };
}

function toEvent(step: FollowStep, sink: FollowSink): object {
  const { step: event, cursor } = step;
  const common = { event, cursor, rows: sink.rows };
  if (step.step === 'blocks') {
    const kinds = step.tables.map(({ kind }) => kind);
    const { from, to, hash, final } = step;
    return { ...common, kinds, from, to, hash, final };
  }
  if (step.step === 'repaired') return { ...common, kind: step.kind, from: step.from, to: step.to };
  const { origin: _, step: __, ...fields } = step;
  return { ...common, ...fields };
}
