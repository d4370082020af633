import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { KINDS, type Kind } from '@packhouse/chain';
import type { Database, PublishedFile } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { type ErrorCode, isPackhouseError, type PackhouseError } from '@packhouse/runtime';
import { type BundleReader, openBundleReader } from './bundle-reader.js';
import { schemaToRead } from './table-rows.js';
import { createTableWriter, type TableFiles, type TableWriter } from './write-table.js';

/** Faults of a bundle: other tables can be written. */
const FAULTS: readonly ErrorCode[] = [
  'OBJECT_MISSING',
  'OBJECT_MISMATCH',
  'BUNDLE_INVALID',
  'RECORD_INVALID',
];

interface WriteParts {
  database: Database;
  objectStore: ObjectStore;
  signal: AbortSignal;
  /** Called, and awaited, after each bundle. */
  afterBundle?: (() => Promise<void>) | undefined;
}

/**
 * Writes files of several tables of a network, and reads each bundle once for all of them:
 *
 * ```
 * blocks ───────┬──────────────────▶ blocks
 * logs ─────────┼──┬───────────────▶ logs
 * traces ───────┼──┼──┬────────────▶ traces
 *               └──┴──┴─ by block ─▶ transfers
 * receipts ─────┬──────────────────▶ receipts
 * transactions ─┴─ by block ───────▶ transactions
 * ```
 * The kind that is behind is read next, so that no more waits than about a bundle of each. Returns the tables that a damaged or
 * missing bundle ended, each with its error; files that they finished before are whole. Throws DISK_FULL, and errors of
 * store and database.
 */
export async function writeFiles(
  parts: WriteParts,
  { network, chainId }: { network: string; chainId: number },
  all: readonly TableFiles[],
): Promise<Map<TableFiles, PackhouseError>> {
  const faults = new Map<TableFiles, PackhouseError>();
  const folder = await mkdtemp(path.join(tmpdir(), 'packhouse-lake-'));
  const writers = new Map<TableFiles, TableWriter>();
  for (const files of all) writers.set(files, createTableWriter({ ...parts, folder }, files));
  const needing = (kind: Kind): [TableFiles, TableWriter][] =>
    [...writers].filter(([{ table }]) => table.needs.includes(kind));
  const readers = new Map<Kind, BundleReader>();
  for (const kind of KINDS) {
    const of = needing(kind).map(([files]) => files);
    if (of.length === 0) continue;
    const schema = schemaToRead(
      kind,
      of.map(({ table }) => table.kind),
    );
    const source = { ...parts, network, folder };
    readers.set(kind, openBundleReader(source, { kind, chainId, schema }, bundlesOf(kind, of)));
  }
  const through = (kind: Kind): number => readers.get(kind)?.through ?? Number.POSITIVE_INFINITY;
  const end = (ended: readonly TableFiles[], error: unknown): void => {
    if (!FAULTS.some((code) => isPackhouseError(error, code))) throw error;
    for (const files of ended) {
      faults.set(files, error as PackhouseError);
      writers.delete(files);
    }
  };
  try {
    for (;;) {
      const kind = [...readers.keys()]
        .filter((each) => needing(each).length > 0)
        .reduce<Kind | null>(
          (least, each) => (least !== null && through(least) <= through(each) ? least : each),
          null,
        );
      if (kind === null || through(kind) === Number.POSITIVE_INFINITY) return faults;
      const reading = needing(kind);
      try {
        for await (const batch of (readers.get(kind) as BundleReader).read()) {
          for (const [, writer] of reading) writer.add(kind, batch);
        }
      } catch (error) {
        end(
          reading.map(([files]) => files),
          error,
        );
        continue;
      }
      for (const [files, writer] of reading)
        await writer.write(through).catch((error) => end([files], error));
      await parts.afterBundle?.();
    }
  } finally {
    for (const reader of readers.values()) await reader.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The bundles of a kind that these files need, ascending, each once. */
function bundlesOf(kind: Kind, all: readonly TableFiles[]): PublishedFile[] {
  const bundles = new Map<number, PublishedFile>();
  for (const { wanted } of all) {
    for (const { files } of wanted) {
      for (const bundle of files[kind] ?? []) bundles.set(bundle.firstBlock, bundle);
    }
  }
  return [...bundles.values()].sort((a, b) => a.firstBlock - b.firstBlock);
}
