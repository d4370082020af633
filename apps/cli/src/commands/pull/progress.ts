import type { MirrorFile, MirrorPlan } from '@packhouse/client';
import { systemClock } from '@packhouse/runtime';
import { counted, formatBytes, formatCount, formatDuration } from '../../terminal/format.js';
import { type CliIo, print, write } from '../../terminal/io.js';
import { createWaitLines, type Waits } from './wait-lines.js';

/** Between two lines of progress, in milliseconds: on a terminal, and elsewhere. */
const OFTEN_MS = 250;
const SELDOM_MS = 10_000;

/** The progress of a pull: a line that is rewritten on a terminal, lines elsewhere, objects with --json. */
interface PullProgress extends Waits {
  /** Bytes received; negative if they are discarded. */
  bytes(count: number): void;
  file(file: MirrorFile): Promise<void>;
  /** Removes the line from a terminal. */
  end(): { downloaded: number; faults: number };
}

/** Creates the progress of a pull. */
export function createPullProgress(io: CliIo, plan: MirrorPlan, json: boolean): PullProgress {
  const begun = systemClock.elapsed();
  const onTty = io.stderr.isTTY === true && !json;
  const left = { files: plan.files - plan.presentFiles, bytes: plan.bytes - plan.presentBytes };
  const came = { files: 0, bytes: 0, faults: 0 };
  let printedAt = begun;
  const facts = (): { bytesPerSecond: number; etaSeconds: number | null } => {
    const seconds = (systemClock.elapsed() - begun) / 1_000;
    const bytesPerSecond = seconds > 0 ? came.bytes / seconds : 0;
    const etaSeconds = bytesPerSecond > 0 ? Math.max(0, left.bytes - came.bytes) / bytesPerSecond : null;
    return { bytesPerSecond, etaSeconds };
  };
  const line = (): string => {
    const { bytesPerSecond, etaSeconds } = facts();
    const rest = etaSeconds === null ? '' : `, ETA ${formatDuration(etaSeconds)}`;
    return `${formatCount(came.files)} of ${counted(left.files, 'file')}, ${formatBytes(came.bytes)} of ${formatBytes(left.bytes)}, ${formatBytes(bytesPerSecond)}/s${rest}`;
  };
  const say = (text: string): void => {
    if (!json) io.stderr.write(onTty ? `\r\x1b[K${text}\n` : `${text}\n`);
  };
  const lines = createWaitLines(say);
  const tick = (): void => {
    const now = systemClock.elapsed();
    if (now - printedAt < (onTty ? OFTEN_MS : SELDOM_MS)) return;
    printedAt = now;
    if (json) write(io, { event: 'progress', ...came, of: left, ...facts() });
    else if (onTty) io.stderr.write(`\r\x1b[K${line()}`);
    else say(`${line()}.`);
  };
  return {
    bytes(count) {
      came.bytes += count;
      tick();
    },
    async file({ range, path, ...file }) {
      if (file.state === 'downloaded' || file.state === 'partial') came.files += 1;
      if (file.state === 'faulty') {
        came.faults += 1;
        if (json) await print(io, { event: 'damage', file: path, message: file.fault });
        else say(file.fault);
      } else if (json && file.state === 'downloaded') {
        const { bytes, sha256, version } = file.entry;
        const { firstBlock: from, lastBlock: to } = range;
        await print(io, { event: 'file', from, to, file: path, bytes, sha256, version });
      } else if (json && file.state === 'partial') {
        const parts = file.parts.map((part) => ({
          from: part.range.firstBlock,
          to: part.range.lastBlock,
          bytes: part.bytes.length,
        }));
        const { bytes, sha256, version } = file.entry;
        const { firstBlock: from, lastBlock: to } = range;
        await print(io, { event: 'parts', from, to, bytes, sha256, version, parts });
      }
      tick();
    },
    wait(wait) {
      const { reason, seconds, rateLimited } = wait;
      if (json) write(io, { event: 'wait', seconds, rateLimited, reason });
      else lines.wait(wait);
    },
    back: lines.back,
    end() {
      if (onTty) io.stderr.write('\r\x1b[K');
      return { downloaded: came.files, faults: came.faults };
    },
  };
}
