import { createHash } from 'node:crypto';
import { objectKey, spliceMember } from '@packhouse/bundle';
import { type Kind, PROOFS, type Proof, type Prover } from '@packhouse/chain';
import type { BundleRow, Database, NewBundle, StagedBlock, StageRequest } from '@packhouse/database';
import type { BlockSource } from '@packhouse/node-rpc';
import type { ObjectStore } from '@packhouse/object-store';
import { type Context, openScope, PackhouseError } from '@packhouse/runtime';
import { extractRuns } from '../ingest/extract.js';
import { putVerified, relevantProofs } from '../publish/publish.js';
import { type SignerSource, withSigner } from '../publish/sign.js';

export interface RepairParts {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
  source: BlockSource;
  prover: Prover;
  /** Signs the manifest's entry; without it the next packer that has a key does. */
  signers?: SignerSource | undefined;
}

/**
 * Builds a damaged bundle again from the nodes and publishes it under the same range as the next version.
 *
 * The blocks are fetched, proved and deflated in memory, past the staging tables: nothing of other jobs is touched.
 * The old object and its row are kept. Killed before the row changes, nothing has changed; the object that was
 * written by then has the next version's key and is written again. Throws REPAIR_REFUSED where the nodes have other
 * blocks than the index row names, REPAIR_FAILED where they cannot give them all, and what store and database throw.
 */
export async function repairBundle(
  parts: RepairParts,
  damaged: { network: string; kind: Kind; start: number; version: number; reason: string },
  signal: AbortSignal,
): Promise<BundleRow> {
  const { database, objectStore, signers } = parts;
  const { network, kind, start } = damaged;
  const lock = await database.tryLock(`repair:${network}:${kind}`);
  if (lock === null) throw busy(damaged);
  const scope = openScope(signal, lock.lost);
  const stop = scope.signal;
  try {
    const row = await database.bundles.covering(network, kind, start);
    if (row === null || row.start !== start) throw gone(damaged);
    // Somebody else repaired it meanwhile.
    if (row.version !== damaged.version) return row;
    const run = await fetchRun(parts, row, stop);
    refuseOtherChain(row, run.blocks);
    const { bundle, body } = rebuild(row, run);
    await putVerified(objectStore, bundle, body, stop);
    const clients = run.blocks.flatMap(({ client }) => client ?? []);
    return await withSigner(signers, (signer) =>
      database.bundles.supersede(bundle, {
        replaces: row.sha256,
        reason: damaged.reason,
        ...(signer === undefined ? {} : { sealing: { signer, clients } }),
      }),
    );
  } finally {
    scope.close();
    await lock.release();
  }
}

/** The blocks of the bundle, proved as far as they were when it was published. */
async function fetchRun(parts: RepairParts, row: BundleRow, signal: AbortSignal): Promise<StageRequest> {
  const { network, kind, start, end } = row;
  // Receipts are fetched where they were proved then, so that the new version stands on no less.
  const kinds: Kind[] =
    row.proofs.includes('receiptsRoot') && kind !== 'receipts' ? [kind, 'receipts'] : [kind];
  const { context, source, prover } = parts;
  const { runs, failures } = await extractRuns(
    { context, source, prover, network },
    { start, end, kinds },
    signal,
  );
  const [failure] = failures;
  const [run] = runs;
  if (failure === undefined && run !== undefined && run.blocks.length === end - start + 1) return run;
  throw new PackhouseError({
    code: 'REPAIR_FAILED',
    message: `${network} ${kind} ${start}-${end} cannot be rebuilt: ${
      failure === undefined
        ? 'the blocks that the nodes give do not follow one another'
        : `the nodes cannot give block ${failure.number}: ${failure.error.message.replace(/\.$/, '')}`
    }. Nothing was changed.`,
    hint: 'Add an upstream that keeps these blocks, and run the audit again.',
    data: { network, kind, start, end, ...(failure === undefined ? {} : { block: failure.number }) },
    cause: failure?.error,
  });
}

function refuseOtherChain(row: BundleRow, blocks: readonly StagedBlock[]): void {
  const [first, last] = [blocks[0] as StagedBlock, blocks.at(-1) as StagedBlock];
  const differs =
    first.hash !== row.firstHash
      ? { block: first.number, what: 'hash', got: first.hash, expected: row.firstHash }
      : first.parentHash !== row.firstParentHash
        ? { block: first.number, what: 'parent hash', got: first.parentHash, expected: row.firstParentHash }
        : last.hash !== row.lastHash
          ? { block: last.number, what: 'hash', got: last.hash, expected: row.lastHash }
          : null;
  if (differs === null) return;
  const { network, kind, start, end } = row;
  throw new PackhouseError({
    code: 'REPAIR_REFUSED',
    message: `${network} ${kind} ${start}-${end} is not repaired: the nodes give ${differs.got} as the ${differs.what} of block ${differs.block}, its index row ${differs.expected}. Nothing was changed.`,
    hint: 'The nodes are on another chain than the one that was published: find out which of the two is right.',
    data: { network, kind, start, end, ...differs },
  });
}

function rebuild(row: BundleRow, run: StageRequest): { bundle: NewBundle; body: Buffer } {
  const { network, kind, start, end } = row;
  const fragments = run.kinds.find((staged) => staged.kind === kind)?.fragments ?? [];
  const member = spliceMember(
    fragments,
    fragments.map((fragment) => fragment.body),
  );
  const body = Buffer.concat(member.chunks, member.byteLength);
  const { publishedAt: _, version, ...same } = row;
  const bundle = {
    ...same,
    objectKey: objectKey({ network, kind, start, end, version: version + 1 }),
    byteLength: member.byteLength,
    rawLength: member.rawLength,
    sha256: createHash('sha256').update(body).digest('hex'),
    proofs: relevantProofs(kind, provedByAll(run.blocks)),
    fragments: fragments.map(({ body: __, ...info }) => info),
  };
  return { bundle, body };
}

function provedByAll(blocks: readonly StagedBlock[]): Proof[] {
  // Links within the run are checked as it is extracted, those to the neighbours by the hashes of the index row.
  return PROOFS.filter(
    (proof) => proof === 'parentLink' || blocks.every(({ proofs }) => proofs.includes(proof)),
  );
}

function busy({ network, kind }: { network: string; kind: Kind }): PackhouseError {
  return new PackhouseError({
    code: 'REPAIR_FAILED',
    message: `Bundles of ${network} ${kind} are being repaired by another process.`,
    hint: 'Try again when it is done.',
    data: { network, kind },
  });
}

function gone({ network, kind, start }: { network: string; kind: Kind; start: number }): PackhouseError {
  return new PackhouseError({
    code: 'REPAIR_FAILED',
    message: `There is no bundle of ${network} ${kind} any more that starts at block ${start}.`,
    data: { network, kind, start },
  });
}
