import { createHash } from 'node:crypto';
import { basename } from 'node:path/posix';
import { type BlockRange, intersectRanges, type Kind, type TableName } from '@packhouse/chain';
import type { LakeFile, LakeTable } from '@packhouse/database';
import { listLakeOrphans, type OrphanParts } from '@packhouse/lake';
import type { AuditReport } from './audit-report.js';
import { verifyLog } from './check-manifest.js';
import { bundleFinding, type Finding, NO_OBJECT } from './finding.js';

interface AuditLakeParts extends OrphanParts {
  report: AuditReport;
  /** Called, and awaited, before a file is read, to keep within a budget. */
  pace?: ((bytes: number) => Promise<void>) | undefined;
}

interface AuditLakeRequest {
  network: string;
  kinds: readonly Kind[];
  range: BlockRange;
  /** Whether a file that touches the range is read. */
  chosen(file: BlockRange & { kind: TableName }): boolean;
  /** Whether the signed logs and the list of objects are compared with the files, too. */
  objects: boolean;
}

/** Blocks whose files are in memory at a time. */
const CHUNK_BLOCKS = 1_000_000;

/**
 * Reads the chosen data files of the newest snapshots back and compares them with their rows, and with `objects` the rows with
 * the signed logs of the tables and the objects of the store. Reports what differs with the cause `dataFile`: such a file
 * is to be written again; and orphans, which are harmless. A file that is replaced meanwhile is none of these.
 */
export async function auditLake(
  parts: AuditLakeParts,
  request: AuditLakeRequest,
  signal: AbortSignal,
): Promise<void> {
  const { lake } = parts.database.network(request.network);
  for (const table of await lake.tables()) {
    if (!request.kinds.includes(sourceKind(table.kind))) continue;
    const log = request.objects ? await replayLog(parts, request.network, table.kind, signal) : null;
    const view = { kind: table.kind, snapshot: table.snapshot, maxBlock: Number.MAX_SAFE_INTEGER };
    for (const { chunk } of await lake.chunks({ ...view, chunkBlocks: CHUNK_BLOCKS })) {
      const firstBlock = chunk * CHUNK_BLOCKS;
      const blocks = { firstBlock, lastBlock: firstBlock + CHUNK_BLOCKS - 1 };
      // A file has one block or more.
      for (const file of await lake.files(view, blocks, CHUNK_BLOCKS)) {
        signal.throwIfAborted();
        if (intersectRanges([file], [request.range]).length === 0) continue;
        if (log !== null && log.get(basename(file.objectKey)) !== file.sha256) {
          await found(parts, request, table, file, {
            what: `no entry of the signed log of the table names its data file ${file.objectKey}.`,
            expected: file.sha256,
            got: null,
          });
        } else if (request.chosen({ ...file, kind: table.kind }))
          await readFile(parts, request, table, file, signal);
      }
    }
  }
  if (request.objects) await findOrphans(parts, request.network, signal);
}

/** The kind whose audits read the files of a table: transfers are of several. */
export function sourceKind(table: TableName): Kind {
  return table === 'transfers' ? 'logs' : table;
}

/** SHA-256 of the files that the log leaves in the table, by name; null if the log is damaged, which is reported. */
async function replayLog(
  { database, report }: AuditLakeParts,
  network: string,
  kind: TableName,
  signal: AbortSignal,
): Promise<Map<string, string> | null> {
  const { lakeLog } = database.network(network);
  const log = {
    tip: () => lakeLog.tip(kind),
    entries: (after: number, limit: number) => lakeLog.entries(kind, after, limit),
  };
  const files = new Map<string, string>();
  const wrong = await verifyLog(database, log, signal, (entry) => {
    if (entry.change === 'add') files.set(entry.file, entry.sha256);
    else files.delete(entry.file);
  });
  if (wrong === null) return files;
  const { from: firstBlock, to: lastBlock, sequence } = wrong.entry;
  const row = { network, kind, firstBlock, lastBlock, objectKey: null, version: null };
  report.found(bundleFinding(row, { cause: 'manifest', what: `entry ${sequence}: ${wrong.message}` }));
  return null;
}

async function readFile(
  parts: AuditLakeParts,
  request: AuditLakeRequest,
  table: LakeTable,
  file: LakeFile,
  signal: AbortSignal,
): Promise<void> {
  const { objectStore, report, pace } = parts;
  const { objectKey, bytes, sha256 } = file;
  await pace?.(bytes);
  const fault = (what: string, expected: string, got: string): Promise<void> =>
    found(parts, request, table, file, { what, expected, got });
  const head = await objectStore.head(objectKey, { signal });
  if (head === null) {
    const what = `its data file ${objectKey} is not in ${objectStore.description}.`;
    return fault(what, `${bytes} bytes with SHA-256 ${sha256}`, NO_OBJECT);
  }
  if (head.size !== bytes) {
    const what = `its data file ${objectKey} has ${head.size} bytes, expected ${bytes}.`;
    return fault(what, String(bytes), String(head.size));
  }
  const hash = createHash('sha256');
  for await (const chunk of await objectStore.stream(objectKey, { signal })) hash.update(chunk as Buffer);
  report.read(bytes);
  const got = hash.digest('hex');
  if (got === sha256) return;
  return fault(`its data file ${objectKey} has SHA-256 ${got}, expected ${sha256}.`, sha256, got);
}

/** Reports a file, unless it has left the table since its row was read. */
async function found(
  { database, report }: AuditLakeParts,
  { network }: AuditLakeRequest,
  { kind }: LakeTable,
  file: LakeFile,
  { what, ...values }: { what: string; expected: string; got: string | null },
): Promise<void> {
  const { firstBlock } = file;
  const now = await database.network(network).lake.newest(kind, { firstBlock, lastBlock: firstBlock });
  if (!now.some(({ addedSnapshot }) => addedSnapshot === file.addedSnapshot)) return;
  const row = { ...file, network, kind, version: file.addedSnapshot };
  report.found(bundleFinding(row, { cause: 'dataFile', what, ...values }));
}

/** Reports objects of the lake that no row names. */
async function findOrphans(parts: AuditLakeParts, network: string, signal: AbortSignal): Promise<void> {
  for await (const { key, size, isDataFile } of listLakeOrphans(parts, network, signal)) {
    const message = `${network}: no snapshot of the lake has the object ${key} of ${size} bytes (harmless; ${isDataFile ? 'the daily sweep deletes it' : 'nothing reads it'}).`;
    const none = { kind: null, from: null, to: null, version: null, block: null, expected: null, got: null };
    const finding: Finding = { ...none, network, key, cause: 'orphan', message, size, harmless: true };
    parts.report.found(finding);
  }
}
