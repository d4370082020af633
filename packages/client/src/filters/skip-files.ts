import type { SealedEntry } from '@packhouse/manifest';
import type { BundleRow } from '../bundle-rows.js';
import type { Mirror, MirrorPlan } from '../mirror.js';
import type { Match } from '../rows/match.js';
import { chooseFiles } from './choose-files.js';
import { isFiltered } from './files-without.js';

/**
 * The plan with those files left out that cannot hold what `match` asks for, by their signed filters: nothing is
 * downloaded of them. Files that are in the folder stay. Sends no request if every row is wanted, or no file is missing.
 * Throws as `Http.get`.
 */
export async function skipFiles(mirror: Mirror, plan: MirrorPlan, wanted: Match): Promise<MirrorPlan> {
  const { options, manifest, trust } = mirror;
  const missing = [...plan.rows.keys()].filter((at) => plan.present[at] !== 1);
  if (!isFiltered(options.kind, wanted) || missing.length === 0) return plan;

  const rowOf = (at: number | undefined): BundleRow => manifest.rows.at(plan.rows[at as number] as number);
  async function* entries(): AsyncGenerator<SealedEntry> {
    for (const at of missing) yield await manifest.entry(plan.rows[at] as number);
  }
  const range = { start: rowOf(missing[0]).start, end: rowOf(missing.at(-1)).end };
  const asked = { kind: options.kind, wanted, entries: entries(), ...range };
  const skip = new Uint8Array(plan.rows.length);
  let [chosen, skippedFiles, skippedBytes] = [0, 0, 0];
  for await (const { entry, load } of chooseFiles({ ...options, keys: trust.keys }, asked, options.signal)) {
    const at = missing[chosen++] as number;
    if (load) continue;
    skip[at] = 1;
    skippedFiles += 1;
    skippedBytes += entry.bytes;
  }
  return { ...plan, skip, skippedFiles, files: plan.files - skippedFiles, bytes: plan.bytes - skippedBytes };
}
