import { type BlockRange, type Kind, subtractRanges } from '@packhouse/chain';
import type { Database, LakeTable, NetworkDatabase } from '@packhouse/database';
import { type Field, kindsOf, tableMetadata } from '@packhouse/lake';
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
  /** Those whose rows are without a kind that the table is made of. */
  lacks: { kind: Kind; ranges: BlockRange[] }[];
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
    const { ranges, lacks, ...totals } = await getTotals(request);
    const address = addressOf(request);
    const name = `${table.snapshot}-${limitOf(request)}`;
    const heads = headsOf(table);
    const metadata = tableMetadata({
      uuid: table.uuid,
      location: address,
      fields: table.fields as Field[],
      properties: { 'packhouse.complete': toText(ranges), ...lacksOf(table, ranges, lacks), ...heads },
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
  const lacks: Totals['lacks'] = [];
  for (const each of kindsOf(kind).slice(1)) {
    const lacking = await lake.lacking({ kind, snapshot, maxBlock }, each, MAX_RANGES + 1);
    if (lacking.length > 0) lacks.push({ kind: each, ranges: lacking });
  }
  return { files: sum('files'), rows: sum('rows'), bytes: sum('bytes'), ranges, lacks };
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

/** What the rows of a table are without: a null, or no transfer of a block, is no claim about its chain there. */
function lacksOf(
  { kind }: LakeTable,
  ranges: readonly BlockRange[],
  lacks: Totals['lacks'],
): Record<string, string> {
  const named = lacks.map((each) => [`packhouse.lacks.${each.kind}`, toText(each.ranges)] as const);
  if (kind !== 'transfers') return Object.fromEntries(named);
  const sources = { 'eip-7708': undefined, traces: 'traces', withdrawals: 'blocks' };
  const known: string[] = [];
  const unknown: string[] = [];
  for (const [name, of] of Object.entries(sources)) {
    const lacking = lacks.find((each) => each.kind === of)?.ranges ?? [];
    if (subtractRanges(ranges, lacking).length > 0) known.push(name);
    if (lacking.length > 0) unknown.push(`${name} of ${toText(lacking)}`);
  }
  const native = [known.join(','), ...unknown.map((what) => `not known: ${what}`)].join('; ');
  return { ...Object.fromEntries(named), 'packhouse.native': native };
}
