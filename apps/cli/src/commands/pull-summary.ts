import type { BlockRange } from '@packhouse/chain';
import type { MirrorPlan } from '@packhouse/client';
import { counted, formatBytes, formatCount, formatRange } from '../terminal/format.js';
import { type CliIo, print } from '../terminal/io.js';

/** Exit code if something of the range is missing. */
export const PARTIAL = 2;
/** Holes that are shown. */
const SHOWN = 5;

/** What a pull has done. */
interface Ended {
  plan: MirrorPlan;
  out: string;
  json: boolean;
  requests: number;
  downloaded: number;
  faults: number;
  /**
   * Rows that the target got, and has, and of those that it got how many no event of the ABI fits; absent: the files
   * are what was asked for.
   */
  rows?: { added: number; all: number; undecoded: number | null; replaced: readonly BlockRange[] };
}

/** Says what was pulled and what is missing; sets the exit code. */
export async function summarise(io: CliIo, { plan, out, json, rows, ...end }: Ended): Promise<void> {
  const { range, files, bytes, skippedFiles = 0, holes, limitedTo, network } = plan;
  const { replaced = [] } = rows ?? {};
  const whole = holes.length === 0 && limitedTo === null && end.faults === 0 && replaced.length === 0;
  if (!whole) io.exitCode = PARTIAL;
  if (json) {
    const name = formatRange(range.start, range.end);
    await print(io, {
      event: 'end',
      ok: whole,
      network,
      range: name,
      files,
      bytes,
      ...(rows === undefined ? {} : { skippedFiles }),
      ...end,
      ...(rows === undefined
        ? {}
        : { rows: rows.added, allRows: rows.all, undecoded: rows.undecoded, replaced }),
      holes,
      limitedTo,
    });
    return;
  }
  const faults = end.faults === 0 ? '' : `, ${counted(end.faults, 'file')} of them faulty`;
  const blocks = `the blocks ${formatRange(range.start, range.end)} of ${network}`;
  const from = `${counted(files, 'file')} (${formatBytes(bytes)})`;
  const got =
    rows?.added === 0 && files === 0
      ? `Nothing new of ${blocks}`
      : `${counted(rows?.added ?? 0, 'row')} of ${blocks} from ${from}${faults}`;
  await print(
    io,
    rows === undefined
      ? `${from} with ${blocks}${faults}; ${formatCount(end.downloaded)} downloaded now. Check them any time with: packhouse verify ${out}`
      : `${got}; ${out} has ${counted(rows.all, 'row')}.`,
  );
  await saySkipped(io, skippedFiles);
  if (rows?.undecoded) {
    await print(
      io,
      `${counted(rows.undecoded, 'row')} of them fit no event of the ABI: their arguments are null.`,
    );
  }
  for (const { start, end } of replaced.slice(0, SHOWN)) {
    await print(
      io,
      `Published again after their rows were pulled: ${formatRange(start, end)}. Pull into a new target to have them as they are now.`,
    );
  }
  await sayMissing(io, plan);
}

/** Says how many files are left out because of what they hold. */
export async function saySkipped(io: CliIo, files: number): Promise<void> {
  if (files > 0)
    await print(io, `${counted(files, 'other file')} of the range without such rows: not downloaded.`);
}

/** Says what is not published or behind the end of the plan. */
export async function sayMissing(
  io: CliIo,
  { holes, limitedTo }: Pick<MirrorPlan, 'holes' | 'limitedTo'>,
): Promise<void> {
  for (const { start, end, reason, needs } of holes.slice(0, SHOWN)) {
    await print(io, `Not published: ${formatRange(start, end)}, ${reason}${needs && `: ${needs}`}.`);
  }
  if (holes.length > SHOWN) await print(io, `And ${counted(holes.length - SHOWN, 'more range')}.`);
  if (limitedTo !== null)
    await print(
      io,
      `The plan of the key ends at block ${limitedTo}; files that reach beyond it are left out.`,
    );
}
