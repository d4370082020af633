import type { BlockRange } from '@packhouse/chain';
import type { Database, LakeTable, NetworkDatabase } from '@packhouse/database';
import { type Field, tableMetadata } from '@packhouse/lake';
import { Problem } from '../http/problem.js';
import { createManifests, unknown } from './manifests.js';
import { addressOf, createKept, getChunks, limitOf, type TableRequest, viewOf } from './table-request.js';

/** Ranges of complete blocks that the properties of a table name. */
const MAX_RANGES = 1_000;

type Lake = NetworkDatabase['lake'];

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
  const kept = createKept();
  const manifests = createManifests({ database, kept });
  const lakeOf = ({ network }: TableRequest): Lake => database.network(network).lake;

  const getTotals = async (request: TableRequest): Promise<Totals> => {
    const make = async (): Promise<Buffer> =>
      Buffer.from(JSON.stringify(await readTotals(lakeOf(request), request)));
    const text = await kept.once(request, `totals ${request.table.snapshot} ${limitOf(request)}`, make);
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
      const [, form, first, last, number, limit, ending] = METADATA_FILE.exec(name) ?? [];
      const snapshot = Number(number);
      const { table, maxBlock } = request;
      if (limit === undefined || (form === '') !== (ending === 'metadata.json') || snapshot > table.snapshot)
        throw unknown('No such file of metadata.');
      const wanted = limit === 'all' ? null : Number(limit);
      const group = first === undefined ? null : { firstBlock: Number(first), lastBlock: Number(last) };
      // A manifest of blocks that the plan includes is the same for all plans.
      const allowed = group === null ? maxBlock : viewOf(request, group).allowed;
      if (allowed !== null && (wanted === null || wanted > allowed)) {
        throw new Problem('plan-limit', { detail: 'This file is of a plan that includes more blocks.' });
      }
      const asked = { ...request, maxBlock: wanted };
      if (group !== null) return manifests.getManifest(asked, group, snapshot);
      // Columns and properties are known of the newest snapshot alone.
      if (form === '' && snapshot === table.snapshot)
        return Buffer.from(JSON.stringify((await load(asked)).metadata));
      if (form !== '' && snapshot >= table.oldestSnapshot) return manifests.getList(asked, snapshot);
      throw unknown(
        `Snapshot ${snapshot} has expired; the newest is ${table.snapshot}. Load the table again.`,
      );
    },
  };
}

async function readTotals(lake: Lake, request: TableRequest): Promise<Totals> {
  const { kind, snapshot } = request.table;
  const chunks = await getChunks(lake, request, snapshot);
  const maxBlock = request.maxBlock ?? Number.MAX_SAFE_INTEGER;
  const ranges = await lake.ranges({ kind, snapshot, maxBlock }, MAX_RANGES + 1);
  const sum = (of: 'files' | 'rows' | 'bytes'): number => chunks.reduce((total, each) => total + each[of], 0);
  return { files: sum('files'), rows: sum('rows'), bytes: sum('bytes'), ranges };
}

/**
 * `<snapshot>-<limit>.metadata.json`, `snap-<snapshot>-<limit>.avro` or
 * `manifest-<first block>-<last block>-<snapshot>-<limit>.avro`.
 */
const METADATA_FILE =
  /^(snap-|manifest-(0|[1-9]\d{0,14})-([1-9]\d{0,14})-|)([1-9]\d{0,14})-(all|0|[1-9]\d{0,14})\.(avro|metadata\.json)$/;

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
