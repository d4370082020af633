import { setImmediate as nextTurn } from 'node:timers/promises';
import { streamElements } from '@packhouse/bundle';
import { type BlockRange, KINDS, type Kind, type ProofPolicy } from '@packhouse/chain';
import type { BundleRow, Database } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import type { Context } from '@packhouse/runtime';
import { rangesInclude, unionRanges } from '../ranges.js';
import type { AuditReport } from './audit-report.js';
import { checkBlock } from './check-block.js';
import { checkNeighbours } from './check-links.js';
import { type LaneRecord, laneRecords, openAhead } from './lane.js';
import { openBundle } from './open-bundle.js';
import { createProvers } from './provers.js';
import { selectBundles } from './select-bundles.js';
import { createSideReader, type SideReader } from './side-reader.js';

export interface AuditNetworkParts {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
  report: AuditReport;
  /** Of the networks file, where there is one. */
  policy: ProofPolicy | undefined;
  /** Called before a bundle is read, to keep within a budget. */
  pace?(bytes: number): Promise<void>;
}

export interface AuditNetworkRequest {
  network: string;
  kinds: readonly Kind[];
  range: BlockRange;
  /** Whether a bundle that touches the range is audited. */
  chosen(bundle: BlockRange & { kind: Kind }): boolean;
}

/** What a kind is checked against. */
const NEEDS: Readonly<Record<Kind, readonly Kind[]>> = {
  blocks: [],
  transactions: ['blocks'],
  receipts: ['blocks'],
  logs: ['receipts'],
  traces: ['blocks', 'receipts'],
};

/**
 * Audits the chosen bundles of a network: all kinds side by side, block by block, each object read once.
 *
 * Of each kind one bundle is open and two are being read. What a chosen bundle has to be checked against, and is not
 * chosen itself, is read by the byte ranges of single fragments.
 */
export async function auditNetwork(
  parts: AuditNetworkParts,
  request: AuditNetworkRequest,
  signal: AbortSignal,
): Promise<void> {
  const { report, objectStore } = parts;
  const heads = new Map<Kind, LaneRecord>();
  const lanes = new Map<Kind, AsyncGenerator<LaneRecord, void, undefined>>();
  const side = await sideRecords(parts, request.network, signal);
  const check = {
    report,
    proverFor: createProvers(parts.policy),
    links: { last: null },
    streamTraces: async function* ({ row }: LaneRecord) {
      yield* streamElements(await objectStore.stream(row.objectKey, { signal }));
    },
  };
  try {
    for (const kind of request.kinds) lanes.set(kind, createLane(parts, request, kind, signal));
    const advance = async (kind: Kind): Promise<void> => {
      const next = await (lanes.get(kind) as AsyncGenerator<LaneRecord, void, undefined>).next();
      if (next.done === true) heads.delete(kind);
      else heads.set(kind, next.value);
    };
    await Promise.all(request.kinds.map(advance));
    while (heads.size > 0) {
      signal.throwIfAborted();
      const number = Math.min(...[...heads.values()].map((head) => head.number));
      const records = new Map<Kind, LaneRecord>();
      for (const kind of KINDS) {
        const head = heads.get(kind);
        if (head?.number === number) records.set(kind, head);
      }
      const here = [...records.keys()];
      await addNeeded(side, records, number);
      await checkBlock(check, number, records);
      await Promise.all(here.map(advance));
      // Proving is synchronous: answers of the store and of zlib's pool would wait for ever.
      await nextTurn();
    }
  } finally {
    await Promise.all([...lanes.values()].map((lane) => lane.return()));
  }
}

function createLane(
  parts: AuditNetworkParts,
  { network, range, chosen }: AuditNetworkRequest,
  kind: Kind,
  signal: AbortSignal,
): AsyncGenerator<LaneRecord, void, undefined> {
  const { database, report } = parts;
  const rows = selectBundles(database, {
    network,
    kind,
    range,
    chosen: (bundle) => chosen({ ...bundle, kind }),
    onBadRow: ({ start, end }, error) =>
      report.found({
        network,
        kind,
        start,
        end,
        key: null,
        version: null,
        cause: 'indexRow',
        block: null,
        expected: null,
        got: null,
        message: `${network} ${kind} ${start}-${end}: its index row cannot be read: ${error.message}`,
        harmless: false,
      }),
  });
  let last: BundleRow | null = null;
  const open = async (row: BundleRow): ReturnType<typeof openBundle> => {
    const before = last;
    last = row;
    await parts.pace?.(row.byteLength);
    await checkNeighbours({ database, report }, row, before);
    const opened = await openBundle(parts, row, signal);
    if (opened === null) report.checked(row);
    return opened;
  };
  return laneRecords(openAhead(rows, open), report, (row) => report.checked(row));
}

/** Adds what the records of this block have to be checked against. */
async function addNeeded(side: SideReader, records: Map<Kind, LaneRecord>, number: number): Promise<void> {
  const until = Math.max(...[...records.values()].map(({ row }) => row.end));
  for (const kind of [...records.keys()]) {
    for (const needed of NEEDS[kind]) {
      if (records.has(needed)) continue;
      const record = await side.at(needed, number, until);
      if (record !== null) records.set(needed, record);
    }
  }
}

/** A reader of what is published, which is asked for once. */
async function sideRecords(
  parts: AuditNetworkParts,
  network: string,
  signal: AbortSignal,
): Promise<SideReader> {
  const reader = createSideReader(parts, network, signal);
  const published = new Map<Kind, BlockRange[]>();
  for (const kind of ['blocks', 'receipts'] as const) {
    published.set(kind, unionRanges((await parts.database.coverage(network, kind)).published));
  }
  return {
    at: async (kind, number, until) =>
      rangesInclude(published.get(kind) ?? [], number) ? reader.at(kind, number, until) : null,
  };
}
