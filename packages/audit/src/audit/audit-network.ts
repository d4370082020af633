import { setImmediate as nextTurn } from 'node:timers/promises';
import { streamElements } from '@packhouse/bundle';
import {
  type BlockRange,
  createProver,
  KINDS,
  type Kind,
  type Proof,
  type ProofPolicy,
  type Prover,
  rangesInclude,
  unionRanges,
} from '@packhouse/chain';
import type { BundleRow, Database } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { getOrAdd } from '@packhouse/runtime';
import type { AuditReport } from './audit-report.js';
import { checkBlock, type ProverFor } from './check-block.js';
import { checkFilter } from './check-filter.js';
import { checkNeighbours } from './check-links.js';
import { bundleFinding } from './finding.js';
import { openBundle } from './open-bundle.js';
import { type BundleRecord, bundleRecords, openAhead, selectBundles } from './read-bundles.js';
import { createSideReader, type SideReader } from './side-reader.js';

interface AuditNetworkParts {
  database: Database;
  objectStore: ObjectStore;
  report: AuditReport;
  /** From the networks file, if there is one. */
  policy: ProofPolicy | undefined;
  /** Called, and awaited, before a bundle is read, to keep within a budget. */
  pace?: ((bytes: number) => Promise<void>) | undefined;
}

interface AuditNetworkRequest {
  network: string;
  kinds: readonly Kind[];
  range: BlockRange;
  /** Whether a bundle that touches the range is audited. */
  chosen(bundle: BlockRange & { kind: Kind }): boolean;
}

/** The records that a kind is checked against. */
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
 * Of each kind one bundle is open and two are being read. Records that a chosen bundle is checked against, and that are
 * not chosen themselves, are read by the byte ranges of single fragments.
 */
export async function auditNetwork(
  parts: AuditNetworkParts,
  request: AuditNetworkRequest,
  signal: AbortSignal,
): Promise<void> {
  const { report, objectStore } = parts;
  const readers = new Map<Kind, ReturnType<typeof bundleRecords>>();
  const next = new Map<Kind, BundleRecord>();
  const side = await publishedSide(parts, request.network, signal);
  const check = {
    report,
    proverFor: createProvers(parts.policy),
    links: { last: null },
    streamTraces: async function* ({ row }: BundleRecord) {
      yield* streamElements(await objectStore.stream(row.objectKey, { signal }));
    },
  };
  const advance = async (kind: Kind): Promise<void> => {
    const read = await readers.get(kind)?.next();
    if (read === undefined || read.done === true) next.delete(kind);
    else next.set(kind, read.value);
  };
  try {
    for (const kind of request.kinds) readers.set(kind, toRecords(parts, request, kind, signal));
    await Promise.all(request.kinds.map(advance));
    while (next.size > 0) {
      signal.throwIfAborted();
      const number = Math.min(...[...next.values()].map((record) => record.number));
      const records = new Map<Kind, BundleRecord>();
      for (const kind of KINDS) {
        const record = next.get(kind);
        if (record?.number === number) records.set(kind, record);
      }
      const here = [...records.keys()];
      await addNeeded(side, records, number);
      await checkBlock(check, number, records);
      await Promise.all(here.map(advance));
      // Proving is synchronous: without a pause, answers of the store and of zlib's pool would wait for ever.
      await nextTurn();
    }
  } finally {
    await Promise.all([...readers.values()].map((reader) => reader.return()));
  }
}

function toRecords(
  parts: AuditNetworkParts,
  { network, range, chosen }: AuditNetworkRequest,
  kind: Kind,
  signal: AbortSignal,
): ReturnType<typeof bundleRecords> {
  const { database, report } = parts;
  const rows = selectBundles(database, {
    network,
    kind,
    range,
    chosen: (bundle) => chosen({ ...bundle, kind }),
    onBadRow: (bundle, error) => {
      const what = `its index row cannot be read: ${error.message}`;
      const row = { ...bundle, network, kind, objectKey: null, version: null };
      report.found(bundleFinding(row, { cause: 'indexRow', what }));
    },
  });
  let last: BundleRow | null = null;
  const open = async (row: BundleRow): ReturnType<typeof openBundle> => {
    const before = last;
    last = row;
    await parts.pace?.(row.byteLength);
    await checkNeighbours({ database, report }, row, before);
    const opened = await openBundle(parts, row, signal);
    if (opened === null) report.checked(row);
    else await checkFilter(parts, row, opened.bytes, signal);
    return opened;
  };
  return bundleRecords(openAhead(rows, open), report, (row) => report.checked(row));
}

/** Adds the records that this block's records are checked against. */
async function addNeeded(side: SideReader, records: Map<Kind, BundleRecord>, number: number): Promise<void> {
  const until = Math.max(...[...records.values()].map(({ row }) => row.lastBlock));
  for (const kind of [...records.keys()]) {
    for (const needed of NEEDS[kind]) {
      if (records.has(needed)) continue;
      const record = await side.at(needed, number, until);
      if (record !== null) records.set(needed, record);
    }
  }
}

/** A side reader that is only asked for published blocks. */
async function publishedSide(
  parts: AuditNetworkParts,
  network: string,
  signal: AbortSignal,
): Promise<SideReader> {
  const reader = createSideReader(parts, network, signal);
  const published = new Map<Kind, BlockRange[]>();
  for (const kind of ['blocks', 'receipts'] as const) {
    published.set(kind, unionRanges((await parts.database.network(network).coverage(kind)).published));
  }
  return {
    at: async (kind, number, until) =>
      rangesInclude(published.get(kind) ?? [], number) ? reader.at(kind, number, until) : null,
  };
}

/** The setting that gives what a row says of its senders. */
function getSenders(proofs: readonly Proof[]): ProofPolicy['senders'] {
  if (proofs.includes('senders')) return 'all';
  return proofs.includes('sampledSenders') ? 'sample' : 'off';
}

/** Creates a network's provers when they are needed; `policy` is undefined without a networks file. */
function createProvers(policy: ProofPolicy | undefined): ProverFor {
  const provers = new Map<string, Promise<Prover>>();
  return (row) => {
    const claimed = (proof: Proof, part: 'header' | 'transactions' | 'receipts') =>
      row.proofs.includes(proof) && policy?.[part] !== 'trust' ? 'recompute' : 'trust';
    const made: ProofPolicy = {
      ...policy,
      header: claimed('headerHash', 'header'),
      transactions: claimed('transactionsRoot', 'transactions'),
      receipts: claimed('receiptsRoot', 'receipts'),
      senders: policy?.senders === 'off' ? 'off' : getSenders(row.proofs),
      // The canonical form of a text that was published without extra fields has none either.
      extraFields: 'keep',
      // Nor has that of one that was published without fields that follow from others.
      derived: 'leave',
    };
    return getOrAdd(provers, JSON.stringify(made), () => createProver(made));
  };
}
