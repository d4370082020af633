import type { BlockRange } from '@packhouse/chain';
import type { Database, LakeFile, LakeTable, NetworkDatabase } from '@packhouse/database';
import {
  type DataFile,
  encodeManifest,
  encodeManifestList,
  type Field,
  type ListedManifest,
  tableMetadata,
} from '@packhouse/lake';
import { LRUCache } from 'lru-cache';
import { Problem } from '../http/problem.js';

/** Blocks whose files are in one manifest. A file never crosses its end. */
const CHUNK_BLOCKS = 10_000_000;
/** Bytes of manifests and lists that are kept. */
const MAX_BYTES = 33_554_432;
/** Ranges of complete blocks that the properties of a table name. */
const MAX_RANGES = 1_000;

/**
 * What the addresses of all files begin with. Engines read them by the protocol of S3 from this server: the bucket is the
 * first part of the path of `lakeFileRoutes`.
 */
const LAKE_FILES = 's3://iceberg/files';

type Lake = NetworkDatabase['lake'];

/** What a reader may see of a table. */
type TableRequest = {
  network: string;
  table: LakeTable;
  /** Of the reader's plan; null: all. */
  maxBlock: number | null;
};

/** The totals of a snapshot, as far as a plan includes it. */
interface Totals {
  files: number;
  rows: number;
  bytes: number;
  ranges: BlockRange[];
}

/**
 * Writes the metadata of tables as it is asked for, from the rows of their newest snapshots: so a plan that ends at a block
 * sees the files up to it. Manifests and lists are kept by snapshot and plan.
 */
export function createMetadata({ database }: { database: Database }) {
  const kept = new LRUCache<string, Buffer>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ length }) => length + 200,
  });
  /** What is made of the rows of a snapshot stays, until some of them are forgotten. */
  const once = async (request: TableRequest, name: string, make: () => Promise<Buffer>): Promise<Buffer> => {
    const full = `${addressOf(request)} ${request.table.uuid} ${request.table.oldestSnapshot} ${name}`;
    const known = kept.get(full);
    if (known !== undefined) return known;
    const made = await make();
    kept.set(full, made);
    return made;
  };
  const lakeOf = ({ network }: TableRequest): Lake => database.network(network).lake;

  const getManifest = (request: TableRequest, chunk: number, snapshot: number): Promise<Buffer> => {
    const { limit, maxBlock } = viewOf(request, chunk);
    return once(request, `manifest ${chunk} ${snapshot} ${limit}`, async () => {
      const of = { kind: request.table.kind, snapshot, maxBlock, chunkBlocks: CHUNK_BLOCKS };
      const rows = await lakeOf(request).files(of, chunk);
      const files = rows.map((file): DataFile => ({ ...file, location: dataAddress(request, file) }));
      return encodeManifest(request.table.fields as Field[], files);
    });
  };

  const getList = (request: TableRequest, snapshot: number): Promise<Buffer> =>
    once(request, `list ${snapshot} ${limitOf(request)}`, async () => {
      const manifests: ListedManifest[] = [];
      for (const chunk of await getChunks(lakeOf(request), request, snapshot)) {
        if (chunk.files === 0) continue;
        const { limit } = viewOf(request, chunk.chunk);
        const bytes = (await getManifest(request, chunk.chunk, chunk.changedSnapshot)).length;
        const name = `manifest-${chunk.chunk}-${chunk.changedSnapshot}-${limit}.avro`;
        manifests.push({ ...chunk, bytes, location: `${addressOf(request)}/metadata/${name}` });
      }
      return encodeManifestList(snapshot, manifests);
    });

  const getTotals = async (request: TableRequest): Promise<Totals> => {
    const make = async (): Promise<Buffer> =>
      Buffer.from(JSON.stringify(await readTotals(lakeOf(request), request)));
    const text = await once(request, `totals ${request.table.snapshot} ${limitOf(request)}`, make);
    return JSON.parse(text.toString()) as Totals;
  };

  /** The metadata of a table as JSON, and the address that it is of. */
  const load = async (request: TableRequest): Promise<{ location: string; metadata: object }> => {
    const { table } = request;
    const { ranges, ...totals } = await getTotals(request);
    const address = addressOf(request);
    const name = `${table.snapshot}-${limitOf(request)}`;
    const heads = headsOf(table);
    const metadata = tableMetadata({
      uuid: table.uuid,
      location: address,
      fields: table.fields as Field[],
      properties: { 'packhouse.complete': toText(ranges), ...nativeOf(table), ...heads },
      snapshot: {
        id: table.snapshot,
        madeAt: table.madeAt,
        manifestList: `${address}/metadata/snap-${name}.avro`,
        properties: heads,
        ...totals,
      },
    });
    return { location: `${address}/metadata/${name}.metadata.json`, metadata };
  };

  return {
    load,
    /**
     * A file of metadata by its name. Throws the problems `file-unknown`, also for a snapshot whose files are not kept any
     * more, and `plan-limit` for one of a larger plan.
     */
    async file(request: TableRequest, name: string): Promise<Buffer> {
      const [, form, chunk, number, limit, ending] = METADATA_FILE.exec(name) ?? [];
      const snapshot = Number(number);
      const { table, maxBlock } = request;
      if (limit === undefined || (form === '') !== (ending === 'metadata.json') || snapshot > table.snapshot)
        throw unknown('No such file of metadata.');
      const wanted = limit === 'all' ? null : Number(limit);
      // A manifest of a chunk that the plan includes whole is the same for all plans.
      const allowed = chunk === undefined ? maxBlock : viewOf(request, Number(chunk)).allowed;
      if (allowed !== null && (wanted === null || wanted > allowed)) {
        throw new Problem('plan-limit', { detail: 'This file is of a plan that includes more blocks.' });
      }
      const asked = { ...request, maxBlock: wanted };
      if (chunk !== undefined) return getManifest(asked, Number(chunk), snapshot);
      // Columns and properties are known of the newest snapshot alone.
      if (form === '' && snapshot === table.snapshot)
        return Buffer.from(JSON.stringify((await load(asked)).metadata));
      if (form !== '' && snapshot >= table.oldestSnapshot) return getList(asked, snapshot);
      throw unknown(
        `Snapshot ${snapshot} has expired; the newest is ${table.snapshot}. Load the table again.`,
      );
    },
  };
}

function getChunks(
  lake: Lake,
  { table, maxBlock }: TableRequest,
  snapshot: number,
): ReturnType<Lake['chunks']> {
  return lake.chunks({
    kind: table.kind,
    snapshot,
    maxBlock: maxBlock ?? Number.MAX_SAFE_INTEGER,
    chunkBlocks: CHUNK_BLOCKS,
  });
}

async function readTotals(lake: Lake, request: TableRequest): Promise<Totals> {
  const { kind, snapshot } = request.table;
  const chunks = await getChunks(lake, request, snapshot);
  const maxBlock = request.maxBlock ?? Number.MAX_SAFE_INTEGER;
  const ranges = await lake.ranges({ kind, snapshot, maxBlock }, MAX_RANGES + 1);
  const sum = (of: 'files' | 'rows' | 'bytes'): number => chunks.reduce((total, each) => total + each[of], 0);
  return { files: sum('files'), rows: sum('rows'), bytes: sum('bytes'), ranges };
}

/** `<snapshot>-<limit>.metadata.json`, `snap-<snapshot>-<limit>.avro` or `manifest-<chunk>-<snapshot>-<limit>.avro`. */
const METADATA_FILE =
  /^(snap-|manifest-(0|[1-9]\d{0,8})-|)([1-9]\d{0,14})-(all|0|[1-9]\d{0,14})\.(avro|metadata\.json)$/;

function addressOf({ network, table }: TableRequest): string {
  return `${LAKE_FILES}/${network}/${table.kind}`;
}

function dataAddress(request: TableRequest, { objectKey }: LakeFile): string {
  return `${addressOf(request)}/data/${objectKey.slice(objectKey.lastIndexOf('/') + 1)}`;
}

function limitOf({ maxBlock }: TableRequest): string {
  return maxBlock === null ? 'all' : String(maxBlock);
}

/** How much of a chunk a plan includes: `all` of it, or up to a block. */
function viewOf(
  { maxBlock }: TableRequest,
  chunk: number,
): { limit: string; maxBlock: number; allowed: number | null } {
  const isWhole = maxBlock === null || maxBlock >= (chunk + 1) * CHUNK_BLOCKS - 1;
  return isWhole
    ? { limit: 'all', maxBlock: Number.MAX_SAFE_INTEGER, allowed: null }
    : { limit: String(maxBlock), maxBlock, allowed: maxBlock };
}

/** Ranges without a hole, as `1-9,20-29`; `…`: there are more. */
function toText(ranges: readonly BlockRange[]): string {
  const named = ranges.slice(0, MAX_RANGES).map(({ firstBlock, lastBlock }) => `${firstBlock}-${lastBlock}`);
  return named.join(',') + (ranges.length > MAX_RANGES ? ',…' : '');
}

/**
 * The signed entries that a snapshot is proved by, each as `<sequence>:<hash>` with its signature: of the manifest, those up
 * to which everything is in the table; of the log of its files, the newest.
 */
function headsOf({ heads, logHead }: LakeTable): Record<string, string> {
  const named = Object.fromEntries(
    Object.entries(heads).map(([kind, head]) => [`packhouse.manifest.${kind}`, head]),
  );
  if (logHead !== null) named['packhouse.files'] = logHead;
  return Object.fromEntries(
    Object.entries(named).flatMap(([name, { sequence, hash, signature }]) => [
      [name, `${sequence}:${hash}`],
      [`${name}.signature`, signature],
    ]),
  );
}

/** Where the native transfers of a table of transfers are from: a network that keeps no traces has few. */
function nativeOf({ kind, heads }: LakeTable): Record<string, string> {
  if (kind !== 'transfers') return {};
  const sources = [
    'eip-7708',
    ...(heads.traces === undefined ? [] : ['traces']),
    ...(heads.blocks === undefined ? [] : ['withdrawals']),
  ];
  const isWhole = heads.logs !== undefined;
  return { 'packhouse.native': isWhole ? sources.join(',') : 'not known before the table is complete' };
}

function unknown(detail: string): Problem {
  return new Problem('file-unknown', { detail });
}
