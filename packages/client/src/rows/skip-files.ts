import type { SealedEntry } from '@packhouse/manifest';
import type { Match } from '@packhouse/rows';
import { packParts, sumOf, toRanges } from '../fetch/file-parts.js';
import type { BundleRow } from '../manifest/bundle-rows.js';
import type { Mirror, MirrorPlan } from '../mirror/mirror.js';
import { chooseFiles, isFiltered } from './choose-files.js';

/**
 * The plan with those files left out that cannot hold what `match` asks for, by their signed filters: nothing is
 * downloaded of them. Files that are in the folder stay. With `parts`, of the others only the parts that can hold it are
 * loaded, where that costs less, and no file of those gets into the folder. Sends no request if every row is wanted, or
 * no file is missing. Throws as `Http.get`.
 */
export async function skipFiles(
  mirror: Mirror,
  plan: MirrorPlan,
  match: Match,
  { parts: inParts }: { parts: boolean },
): Promise<MirrorPlan> {
  const { options, manifest, trust } = mirror;
  const missing = [...plan.rows.keys()].filter((at) => plan.present[at] !== 1);
  if (!isFiltered(options.kind, match) || missing.length === 0) return plan;

  const toRow = (at: number | undefined): BundleRow => manifest.rows.at(plan.rows[at as number] as number);
  async function* entries(): AsyncGenerator<SealedEntry> {
    for (const at of missing) yield await manifest.entry(plan.rows[at] as number);
  }
  const range = {
    firstBlock: Math.max(toRow(missing[0]).firstBlock, plan.range.firstBlock),
    lastBlock: Math.min(toRow(missing.at(-1)).lastBlock, plan.range.lastBlock),
  };
  const asked = { kind: options.kind, match, entries: entries(), ...range };
  const skip = new Uint8Array(plan.rows.length);
  let [chosen, skippedFiles, skippedBytes] = [0, 0, 0];
  const times = new Map<number, Uint8Array>();
  const partsOf = new Map<number, Buffer>();
  const gateway = { ...options, keys: trust.keys };
  for await (const { entry, load, parts, times: own } of chooseFiles(gateway, asked, options.signal)) {
    const at = missing[chosen++] as number;
    if (load && own !== null) times.set(entry.from, own);
    if (load && (parts === null || !inParts)) continue;
    if (parts === null) {
      skip[at] = 1;
      skippedFiles += 1;
    } else partsOf.set(at, packParts(parts));
    skippedBytes += entry.bytes - sumOf(toRanges(parts ?? []));
  }
  return {
    ...plan,
    skip,
    skippedFiles,
    parts: partsOf,
    times,
    files: plan.files - skippedFiles,
    bytes: plan.bytes - skippedBytes,
  };
}
