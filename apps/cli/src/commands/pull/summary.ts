import type { BlockRange, Kind } from '@packhouse/chain';
import type { MirrorPlan } from '@packhouse/client';
import { counted, formatBytes, formatCount, formatRange, toPublicRange } from '../../terminal/format.js';
import { type CliIo, print } from '../../terminal/io.js';

/** Exit code if something of the range is missing. */
export const PARTIAL = 2;
/** Holes that are shown. */
const SHOWN = 5;

/** The result of a pull. */
interface Ended {
  kind: Kind;
  plan: MirrorPlan;
  out: string;
  json: boolean;
  requests: number;
  downloaded: number;
  faults: number;
  /**
   * Rows added, all rows of the target, added rows without a matching event in the ABI, and blocks without published
   * receipts; absent: files were pulled.
   */
  rows?: {
    added: number;
    all: number;
    undecoded: number | null;
    withoutReceipts: number | null;
    replaced: readonly BlockRange[];
  };
}

/** Prints what was pulled and what is missing; sets the exit code. */
export async function summarise(io: CliIo, { kind, plan, out, json, rows, ...end }: Ended): Promise<void> {
  const { range, files, bytes, skippedFiles = 0, holes, limitedTo, network } = plan;
  const { replaced = [] } = rows ?? {};
  const whole = holes.length === 0 && limitedTo === null && end.faults === 0 && replaced.length === 0;
  if (!whole) io.exitCode = PARTIAL;
  if (json) {
    await print(io, {
      event: 'end',
      ok: whole,
      network,
      kind,
      from: range.firstBlock,
      to: range.lastBlock,
      files,
      bytes,
      skippedFiles: rows && skippedFiles,
      ...end,
      rows: rows?.added,
      allRows: rows?.all,
      undecoded: rows?.undecoded,
      withoutReceipts: rows?.withoutReceipts,
      replaced: rows && replaced.map(toPublicRange),
      holes,
      limitedTo,
    });
    return;
  }
  const faults = end.faults === 0 ? '' : `, ${formatCount(end.faults)} faulty`;
  const blocks = `blocks ${formatRange(range.firstBlock, range.lastBlock)} of ${network}`;
  const from = `${counted(files, 'file')} (${formatBytes(bytes)})`;
  const got =
    rows?.added === 0 && files === 0
      ? `No new rows of ${blocks}`
      : `${counted(rows?.added ?? 0, 'row')} of ${blocks} from ${from}${faults}`;
  await print(
    io,
    rows === undefined
      ? `${from} with ${blocks}${faults}; ${formatCount(end.downloaded)} downloaded now. To verify them: packhouse verify ${out}`
      : `${got}. Total in ${out}: ${counted(rows.all, 'row')}.`,
  );
  await printSkipped(io, skippedFiles);
  if (rows?.undecoded) {
    await print(
      io,
      `${counted(rows.undecoded, 'row')} without a matching event in the ABI: their arguments are null.`,
    );
  }
  if (rows?.withoutReceipts) {
    await print(
      io,
      `${counted(rows.withoutReceipts, 'block')} without published receipts: what is of those is null in their transactions.`,
    );
  }
  for (const { firstBlock, lastBlock } of replaced.slice(0, SHOWN)) {
    await print(
      io,
      `Republished since their rows were pulled: ${formatRange(firstBlock, lastBlock)}. Pull into a new target to update them.`,
    );
  }
  await printMissing(io, plan);
}

/** Prints how many files are skipped because they have no matching rows. */
export async function printSkipped(io: CliIo, files: number): Promise<void> {
  if (files > 0) await print(io, `Skipped ${counted(files, 'file')} without matching rows.`);
}

/** Prints what is not published or beyond the end of the plan. */
export async function printMissing(
  io: CliIo,
  { holes, limitedTo }: Pick<MirrorPlan, 'holes' | 'limitedTo'>,
): Promise<void> {
  for (const { from, to, reason, needs } of holes.slice(0, SHOWN)) {
    await print(io, `Not published: ${formatRange(from, to)}, ${reason}${needs && `: ${needs}`}.`);
  }
  if (holes.length > SHOWN) await print(io, `${counted(holes.length - SHOWN, 'more range')} not published.`);
  if (limitedTo !== null)
    await print(io, `The plan of the API key ends at block ${limitedTo}; later files are left out.`);
}
