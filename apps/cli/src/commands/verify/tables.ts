import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type BlockRange, unionRanges } from '@packhouse/chain';
import { logOf, type SealedLakeEntry } from '@packhouse/manifest';
import type { TableFile } from './inputs.js';

/** What the logs of tables say of their files. */
export interface KnownTables {
  /** Takes the next entry of a log, which was checked. */
  note(entry: SealedLakeEntry): void;
  /** Whether the file is the one of a signed entry, and in the newest snapshot. Reads it once. */
  check(file: TableFile, full: string, signal: AbortSignal): Promise<TableVerdict>;
  /** The files of the newest snapshots that were not checked, by log. */
  missing(): { log: string; bundles: number; ranges: BlockRange[] }[];
}

type TableVerdict = { entry: SealedLakeEntry } | { fault: string };

/** The newest entry of each file, by log; about 700 bytes each. */
export function createKnownTables(): KnownTables {
  const logs = new Map<string, Map<string, SealedLakeEntry>>();
  const checked = new Set<SealedLakeEntry>();
  return {
    note(entry) {
      const log = `${logOf(entry)} of ${entry.network}`;
      const files = logs.get(log) ?? new Map<string, SealedLakeEntry>();
      files.set(entry.file, entry);
      logs.set(log, files);
    },
    async check({ path: shown, name }, full, signal) {
      const entries = [...logs.values()].flatMap((files) => files.get(name) ?? []);
      const [first] = entries;
      if (first === undefined)
        return { fault: `${shown} is not in the manifest: no table has a file of its name.` };
      for (const entry of entries) checked.add(entry);
      const { sha256, bytes } = await digest(full, signal);
      const same = entries.filter((entry) => entry.sha256 === sha256);
      const entry = same.find(({ change }) => change === 'add') ?? same[0];
      if (entry === undefined) {
        return {
          fault: `${shown} differs from the published file: it has ${bytes} bytes with SHA-256 ${sha256}, expected ${first.bytes} with ${first.sha256}.`,
        };
      }
      if (entry.change === 'add') return { entry };
      return {
        fault: `${shown} is not in the newest snapshot: snapshot ${entry.snapshot} took it out of ${logOf(entry)} of ${entry.network}.`,
      };
    },
    missing: () =>
      [...logs].flatMap(([log, files]) => {
        const left = [...files.values()].filter((entry) => entry.change === 'add' && !checked.has(entry));
        const ranges = left.map(({ from: firstBlock, to: lastBlock }) => ({ firstBlock, lastBlock }));
        return left.length === 0 ? [] : [{ log, bundles: left.length, ranges: unionRanges(ranges) }];
      }),
  };
}

async function digest(full: string, signal: AbortSignal): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(full, { signal, highWaterMark: 1_048_576 })) {
    hash.update(chunk as Buffer);
    bytes += (chunk as Buffer).length;
  }
  return { sha256: hash.digest('hex'), bytes };
}
