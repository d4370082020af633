import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { AbiInput, RowBatch } from '@packhouse/rows';
import { compileAbi, type Decoder, readRows } from '@packhouse/rows';
import { PackhouseError } from '@packhouse/runtime';
import type { Gateway } from '../fetch/http.js';
import { type OpenLog, openMirror, planMirror } from '../mirror/mirror.js';
import { faultyFile, mirrorFiles } from '../mirror/mirror-files.js';
import type { Bound } from '../mirror/range.js';
import { openRowSources } from '../rows/row-sources.js';
import { skipFiles } from '../rows/skip-files.js';
import { type Log, toLogs } from './logs.js';
import { getMatch, type WantedRows } from './match-of.js';

/** Which logs are wanted. */
export interface WantedLogs<Abi extends AbiInput> extends WantedRows {
  from?: Bound | undefined;
  to?: Bound | undefined;
  /** Of a batch: goes on behind its last log, with the last block that was meant then; `from` and `to` do not count. */
  cursor?: string | undefined;
  abi?: Abi | undefined;
  /** Keeps the files, and is of one process at a time; absent: the manifest is kept in memory, a file until it is read. */
  folder?: string | undefined;
  trustKeyFile?: string | undefined;
  /** Leaves out what is not published, or behind the end of the plan, in place of refusing it. */
  partial?: boolean | undefined;
  signal: AbortSignal;
}

/** Logs that follow each other, of whole blocks; perhaps none. */
export interface LogBatch<Abi extends AbiInput = AbiInput> {
  logs: Log<Abi>[];
  /** Where to go on. */
  cursor: string;
  /** Logs of the batch that no event of the ABI fits. */
  undecoded: number;
}

/**
 * The logs of a range, ascending, in batches: at least one for each file. Files that hold no such log, by their signed
 * filters, are not downloaded, and without a folder only those parts of the others that can. Ending early stops the downloads and removes
 * what is temporary. Throws BUNDLE_INVALID at a file that the gateway sends other than the manifest says, USAGE,
 * ABI_INVALID, and as `openMirror` and `planMirror`.
 */
export async function* readLogs<const Abi extends AbiInput>(
  { getManifest, ...parts }: Gateway & { getManifest(trustKeyFile: string | undefined): Promise<OpenLog> },
  wanted: WantedLogs<Abi>,
): AsyncGenerator<LogBatch<Abi>, void, undefined> {
  const decoder = wanted.abi === undefined ? null : await compileAbi(wanted.abi);
  const match = await getMatch(wanted, decoder);
  const place = wanted.cursor === undefined ? null : readCursor(wanted.cursor);
  const { folder, signal, trustKeyFile } = wanted;
  const work = folder ?? (await mkdtemp(path.join(tmpdir(), 'packhouse-logs-')));
  try {
    const log = folder === undefined ? await getManifest(trustKeyFile) : undefined;
    const mirror = await openMirror({ ...parts, log, folder: work, kind: 'logs', trustKeyFile, signal });
    try {
      const newest = mirror.manifest.extent()?.lastBlock ?? -1;
      if (place !== null && place.next > (place.end ?? newest)) return;
      const bounds = { ...getBounds(wanted, place), partial: wanted.partial, passing: folder === undefined };
      const plan = await skipFiles(mirror, await planMirror(mirror, bounds), match, {
        parts: folder === undefined,
      });
      const { firstBlock, lastBlock } = plan.range;
      const last = place === null ? (wanted.to === undefined ? null : lastBlock) : place.end;
      const cursorAt = (next: number): string => `${next}-${last ?? ''}`;
      const sourcesOf = openRowSources(mirror, plan);
      for await (const file of mirrorFiles(mirror, plan)) {
        if (file.state === 'faulty') throw faultyFile(file);
        // The last batch of a file is told with the end of the file: behind it may be blocks without such logs.
        let held: RowBatch | null = null;
        for (const source of sourcesOf(file)) {
          const blocks = { from: firstBlock, to: lastBlock };
          for await (const batch of readRows({ ...source, kind: 'logs', ...blocks, match })) {
            signal.throwIfAborted();
            if (held !== null) yield toBatch(held, decoder, cursorAt(getLastBlock(held) + 1));
            held = batch;
          }
        }
        if (folder === undefined) await rm(file.path, { force: true });
        yield toBatch(held, decoder, cursorAt(Math.min(file.range.lastBlock, lastBlock) + 1));
      }
    } finally {
      await mirror.close();
    }
  } finally {
    if (folder === undefined) await rm(work, { recursive: true, force: true });
  }
}

/** A cursor is `<next block>-<last block>`, or `<next block>-` if the range has no end. */
interface Place {
  next: number;
  end: number | null;
}

function readCursor(text: string): Place {
  const [, next, end] = /^(\d{1,15})-(\d{0,15})$/.exec(text) ?? [];
  if (next !== undefined) return { next: Number(next), end: end === '' ? null : Number(end) };
  throw new PackhouseError({
    code: 'USAGE',
    message: `"${text.slice(0, 60)}" is not a cursor.`,
    hint: 'Give the cursor of a batch as it is.',
  });
}

function getBounds({ from, to }: Pick<WantedLogs<AbiInput>, 'from' | 'to'>, place: Place | null) {
  if (place === null) return { from, to };
  const block = (number: number): Bound => ({ type: 'block', number });
  return { from: block(place.next), to: place.end === null ? undefined : block(place.end) };
}

function getLastBlock({ rows, columns }: RowBatch): number {
  return columns.block_number?.[rows - 1] as number;
}

function toBatch<Abi extends AbiInput>(
  batch: RowBatch | null,
  decoder: Decoder<Abi> | null,
  cursor: string,
): LogBatch<Abi> {
  const logs = batch === null ? [] : toLogs(batch, decoder);
  const undecoded = decoder === null ? 0 : logs.filter(({ event }) => event === null).length;
  return { logs, cursor, undecoded };
}
