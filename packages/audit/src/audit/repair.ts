import { hash } from 'node:crypto';
import { objectKey, spliceMember } from '@packhouse/bundle';
import type { Kind, Prover } from '@packhouse/chain';
import {
  type BundleRow,
  type Database,
  type NewBundle,
  type StagedBlock,
  type StageRequest,
  withLock,
} from '@packhouse/database';
import type { BlockSource } from '@packhouse/node-rpc';
import type { ObjectStore } from '@packhouse/object-store';
import {
  extractRuns,
  notProvedIn,
  provedByAll,
  putBundle,
  putFilter,
  putFilterLater,
  relevantProofs,
  type SignerSource,
  withSigner,
} from '@packhouse/pipeline';
import { type Context, isPackhouseError, PackhouseError } from '@packhouse/runtime';
import { getFilter } from './check-filter.js';
import type { DamagedBundle } from './damage.js';
import { publishedTimes } from './published-times.js';

interface RepairParts {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
  source: BlockSource;
  prover: Prover;
  /** Signs the manifest's entry; without it a packer signs it on its own clock. */
  signers?: SignerSource | undefined;
}

/** The outcome of the repair of one bundle. */
export interface Repair {
  bundle: DamagedBundle;
  /** `refused`: the chain itself differs, and an operator must decide. */
  state: 'repaired' | 'failed' | 'refused';
  /** The version published now. */
  version: number;
  /** One sentence. */
  message: string;
}

/** Opens the sources for a network's repairs: once for a network with damage, closed after its last repair. */
export type OpenRepair = (
  network: string,
) => Promise<Pick<RepairParts, 'source' | 'prover' | 'signers'> & { close(): Promise<void> }>;

/**
 * Rebuilds the damaged bundles of one network, one after the other. A bundle that cannot be repaired is reported and
 * stays unchanged; the others continue. Throws only if store or database are unavailable, or when aborted.
 */
export async function repairNetwork(
  parts: Pick<RepairParts, 'context' | 'database' | 'objectStore'>,
  request: { network: string; damaged: readonly DamagedBundle[]; openRepair: OpenRepair },
  signal: AbortSignal,
): Promise<Repair[]> {
  const { damaged } = request;
  const repairs: Repair[] = [];
  const opened = await request.openRepair(request.network).catch((error: unknown) => error as Error);
  if (opened instanceof Error) return damaged.map((bundle) => failed(parts.context, bundle, opened));
  try {
    for (const bundle of damaged) {
      signal.throwIfAborted();
      try {
        repairs.push(await repairOne({ ...parts, ...opened }, bundle, signal));
      } catch (error) {
        if (signal.aborted || isUnavailable(error)) throw error;
        repairs.push(failed(parts.context, bundle, error as Error));
      }
    }
    return repairs;
  } finally {
    await opened.close();
  }
}

async function repairOne(parts: RepairParts, bundle: DamagedBundle, signal: AbortSignal): Promise<Repair> {
  const { network, kind, firstBlock, lastBlock, causes } = bundle;
  if (causes.every((cause) => cause === 'filter')) return rewriteFilter(parts, bundle, signal);
  if (causes.every((cause) => cause === 'parentLink')) await blameLink(parts, bundle, signal);
  const row = await repairBundle(parts, bundle, signal);
  parts.context.logger.warn(
    { network, kind, from: firstBlock, to: lastBlock, version: row.version },
    'a damaged bundle was rebuilt from the upstreams',
  );
  return {
    bundle,
    state: 'repaired',
    version: row.version,
    message: `${network} ${kind} ${firstBlock}-${lastBlock} is repaired: version ${row.version} is published as ${row.objectKey}, ${bundle.key} is kept.`,
  };
}

/** Makes the filter of a sound bundle again; the bundle stays as it is. */
async function rewriteFilter(
  parts: RepairParts,
  bundle: DamagedBundle,
  signal: AbortSignal,
): Promise<Repair> {
  const { network, kind, firstBlock, lastBlock } = bundle;
  const row = await parts.database.network(network).bundles.covering(kind, firstBlock);
  if (row === null || row.firstBlock !== firstBlock) throw bundleGone(bundle);
  const bytes = await parts.objectStore.read(row.objectKey, { signal });
  const expected = await getFilter(parts.database, row);
  const times = await publishedTimes(parts, row, signal);
  const written = await putFilterLater(parts, row, { bytes, expected, times }, signal);
  const name = `The filter of ${network} ${kind} ${firstBlock}-${lastBlock}`;
  return {
    bundle,
    state: written ? 'repaired' : 'failed',
    version: row.version,
    message: written ? `${name} is written again.` : `${name} cannot be made of its records.`,
  };
}

/** For two sound bundles that do not follow each other: asks the upstreams which of them is of another chain. */
async function blameLink(
  { database, source }: RepairParts,
  { network, kind, firstBlock, lastBlock }: DamagedBundle,
  signal: AbortSignal,
): Promise<void> {
  const { bundles } = database.network(network);
  const [before, row] = await Promise.all([
    bundles.covering(kind, firstBlock - 1),
    bundles.covering(kind, firstBlock),
  ]);
  if (before === null || row === null || row.firstParentHash === before.lastHash) return;
  const [theirs, ours] = [
    await source.blockHash(firstBlock - 1, signal),
    await source.blockHash(firstBlock, signal),
  ];
  const wrong =
    ours !== row.firstHash
      ? { range: `${firstBlock}-${lastBlock}`, block: firstBlock, expected: row.firstHash, got: ours }
      : {
          range: `${before.firstBlock}-${before.lastBlock}`,
          block: firstBlock - 1,
          expected: before.lastHash,
          got: theirs,
        };
  throw new PackhouseError({
    code: 'REPAIR_REFUSED',
    message: `${network} ${kind} ${firstBlock}-${lastBlock} does not follow the bundle before it, and is not repaired: the nodes give ${wrong.got ?? 'nothing'} as block ${wrong.block}, the index row of ${wrong.range} ${wrong.expected}. Nothing was changed.`,
    hint: 'The nodes are on another chain than the one that was published: find out which of the two is right.',
    data: { network, kind, ...wrong },
  });
}

function failed(context: Context, bundle: DamagedBundle, error: Error): Repair {
  const { network, kind, firstBlock, lastBlock, version } = bundle;
  const state = isPackhouseError(error, 'REPAIR_REFUSED') ? 'refused' : 'failed';
  context.logger.error(
    { network, kind, from: firstBlock, to: lastBlock, err: error },
    'a damaged bundle was not repaired',
  );
  const named = isPackhouseError(error, 'REPAIR_REFUSED') || isPackhouseError(error, 'REPAIR_FAILED');
  const sentence = named
    ? error.message
    : `${network} ${kind} ${firstBlock}-${lastBlock} is not repaired: ${error.message} Nothing was changed.`;
  return { bundle, state, version, message: sentence };
}

/** Without store and database no other bundle can be repaired either. */
function isUnavailable(error: unknown): boolean {
  return (
    isPackhouseError(error, 'DATABASE_UNAVAILABLE') ||
    isPackhouseError(error, 'OBJECT_STORE_UNAVAILABLE') ||
    isPackhouseError(error, 'DISK_FULL')
  );
}

/**
 * Builds a damaged bundle again from the upstreams and publishes it under the same range as the next version.
 *
 * The blocks are fetched, proved and deflated in memory, without the staging tables, so that other jobs are not
 * affected. The old object and its row are kept. If the process is killed before the row changes, nothing has changed;
 * the object has the next version's key and is written again. Throws REPAIR_REFUSED if the upstreams have other blocks
 * than the index row names, REPAIR_FAILED if they do not have them all, and errors of store and database.
 */
async function repairBundle(
  parts: RepairParts,
  damaged: DamagedBundle,
  signal: AbortSignal,
): Promise<BundleRow> {
  const { database, objectStore, signers } = parts;
  const { network, kind, firstBlock } = damaged;
  const { bundles } = database.network(network);
  const rebuilt = await withLock(database, `repair:${network}:${kind}`, signal, async (stop) => {
    const row = await bundles.covering(kind, firstBlock);
    if (row === null || row.firstBlock !== firstBlock) throw bundleGone(damaged);
    // Another process repaired it meanwhile.
    if (row.version !== damaged.version) return row;
    const run = await fetchRun(parts, row, stop);
    refuseOtherChain(row, run.blocks);
    const { bundle, body } = rebuild(row, run);
    await putBundle(objectStore, bundle, body, stop);
    const times = run.blocks.map(({ timestamp }) => timestamp);
    const filter = await putFilter(parts, bundle, { bytes: body, times }, stop);
    const clients = run.blocks.flatMap(({ client }) => client ?? []);
    return await withSigner(signers, (signer) =>
      bundles.supersede(filter === null ? bundle : { ...bundle, filter }, {
        replaces: row.sha256,
        reason: damaged.message,
        sealing: signer && { signer, clients },
      }),
    );
  });
  if (rebuilt === undefined) throw busy(damaged);
  return rebuilt;
}

/** The blocks of the bundle, with the proofs that they had at its publication. */
async function fetchRun(parts: RepairParts, row: BundleRow, signal: AbortSignal): Promise<StageRequest> {
  const { network, kind, firstBlock, lastBlock } = row;
  // Receipts are fetched if they were proved then, so that the new version has no fewer proofs.
  const kinds: Kind[] =
    row.proofs.includes('receiptsRoot') && kind !== 'receipts' ? [kind, 'receipts'] : [kind];
  const { context, source, prover } = parts;
  const { runs, failures } = await extractRuns(
    { context, source, prover, network },
    { firstBlock, lastBlock, kinds },
    signal,
    true,
  );
  const [failure] = failures;
  const [run] = runs;
  if (failure === undefined && run !== undefined && run.blocks.length === lastBlock - firstBlock + 1)
    return run;
  throw new PackhouseError({
    code: 'REPAIR_FAILED',
    message: `${network} ${kind} ${firstBlock}-${lastBlock} cannot be rebuilt: ${
      failure === undefined
        ? 'the blocks that the nodes give do not follow one another'
        : `the nodes cannot give block ${failure.number}: ${failure.error.message.replace(/\.$/, '')}`
    }. Nothing was changed.`,
    hint: 'Add an upstream that keeps these blocks, and run the audit again.',
    data: { network, kind, firstBlock, lastBlock, block: failure?.number },
    cause: failure?.error,
  });
}

function refuseOtherChain(row: BundleRow, blocks: readonly StagedBlock[]): void {
  const [first, last] = [blocks[0] as StagedBlock, blocks.at(-1) as StagedBlock];
  const { firstHash, firstParentHash, lastHash } = row;
  const differs = [
    { block: first.number, what: 'hash', got: first.hash, expected: firstHash },
    { block: first.number, what: 'parent hash', got: first.parentHash, expected: firstParentHash },
    { block: last.number, what: 'hash', got: last.hash, expected: lastHash },
  ].find(({ got, expected }) => got !== expected);
  if (differs === undefined) return;
  const { network, kind, firstBlock, lastBlock } = row;
  throw new PackhouseError({
    code: 'REPAIR_REFUSED',
    message: `${network} ${kind} ${firstBlock}-${lastBlock} is not repaired: the nodes give ${differs.got} as the ${differs.what} of block ${differs.block}, its index row ${differs.expected}. Nothing was changed.`,
    hint: 'The nodes are on another chain than the one that was published: find out which of the two is right.',
    data: { network, kind, firstBlock, lastBlock, ...differs },
  });
}

function rebuild(row: BundleRow, run: StageRequest): { bundle: NewBundle; body: Buffer } {
  const { network, kind, firstBlock, lastBlock } = row;
  const fragments = run.kinds.find((staged) => staged.kind === kind)?.fragments ?? [];
  const member = spliceMember(
    fragments,
    fragments.map((fragment) => fragment.body),
  );
  const body = Buffer.concat(member.chunks, member.byteLength);
  const { publishedAt: _, version, notProved: __, ...same } = row;
  const bundle = {
    ...same,
    objectKey: objectKey({ network, kind, firstBlock, lastBlock, version: version + 1 }),
    byteLength: member.byteLength,
    rawLength: member.rawLength,
    sha256: hash('sha256', body),
    // Links within the run are checked as it is extracted, those to the neighbours by the hashes of the index row.
    proofs: relevantProofs(kind, provedByAll(run.blocks)),
    ...notProvedIn(kind, run.blocks),
    fragments: fragments.map(({ body: ___, ...info }) => info),
  };
  return { bundle, body };
}

function busy({ network, kind }: DamagedBundle): PackhouseError {
  return new PackhouseError({
    code: 'REPAIR_FAILED',
    message: `Bundles of ${network} ${kind} are being repaired by another process.`,
    hint: 'Try again when it is done.',
    data: { network, kind },
  });
}

function bundleGone({ network, kind, firstBlock }: DamagedBundle): PackhouseError {
  return new PackhouseError({
    code: 'REPAIR_FAILED',
    message: `There is no bundle of ${network} ${kind} any more that starts at block ${firstBlock}.`,
    data: { network, kind, from: firstBlock },
  });
}
