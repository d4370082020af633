import { hash } from 'node:crypto';
import {
  type FragmentInfo,
  logKeyBefore,
  logPrefix,
  objectKey,
  openMember,
  parseLogKey,
  SpareBuffers,
} from '@packhouse/bundle';
import {
  type BlockRange,
  concerns,
  KINDS,
  type Kind,
  type NotProved,
  PROOFS,
  type Proof,
} from '@packhouse/chain';
import type { Database, NetworkDatabase, NewBundle, StagedBlock } from '@packhouse/database';
import type { SealedEntry } from '@packhouse/manifest';
import type { ObjectStore } from '@packhouse/object-store';
import { type Context, isPackhouseError, PackhouseError } from '@packhouse/runtime';
import type { AlarmName } from '../alarm-names.js';
import { putBundle, putFilter } from './put-filter.js';
import { type SignerSource, withSigner } from './sign.js';

interface PublishParts {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
  /** Signs the manifest's entries; without it a packer appends them on its own clock. */
  signers?: SignerSource | undefined;
}

/** Most reasons that an entry names; a network has one or two. */
const MAX_REASONS = 32;
/** The version of the file format, written to the index row and the object's metadata. */
export const FORMAT_VERSION = 1;
/** Memory of files that were written, for the next ones. */
const spare = new SpareBuffers();

/**
 * Publishes one bundle: splice, put, verify, and only then the row of the range index with its signed entry of the
 * manifest, in one transaction.
 *
 * If the process is killed before the row, nothing is published: the same bytes are written again under the same key.
 * Returns null if another bundle already covers one of the blocks. The row waits for `turn`, so that bundles that are
 * put at the same time get their rows in order. Throws OBJECT_MISMATCH, OBJECT_EXISTS with the alarm of a database that
 * was set back, and errors of store and database.
 */
export async function publish(
  { context, database, objectStore, signers }: PublishParts,
  request: { network: string; kind: Kind; fragments: readonly FragmentInfo[] },
  signal: AbortSignal,
  turn?: Promise<void>,
): Promise<NewBundle | null> {
  const { network, kind, fragments } = request;
  const kept = database.network(network);
  const firstBlock = (fragments[0] as FragmentInfo).firstBlock;
  const lastBlock = (fragments.at(-1) as FragmentInfo).lastBlock;
  // The index refuses an overlap in any case; a late packer should not even overwrite a published object.
  if ((await kept.bundles.ranges(kind, { firstBlock, lastBlock })).length > 0) return null;
  // The bodies are read to their places in the file.
  const member = openMember(fragments, (bytes) => spare.take(bytes));
  const [blocks, items] = await Promise.all([
    kept.staging.blocks({ firstBlock, lastBlock }),
    kept.staging.readInto(kind, fragments, member.places),
  ]);
  const proofs = provedTogether(blocks, { network, firstBlock, lastBlock });
  const sha256 = hash('sha256', member.bytes);
  const [first, last] = [blocks[0] as StagedBlock, blocks.at(-1) as StagedBlock];
  const row: NewBundle & { network: string } = {
    network,
    kind,
    firstBlock,
    lastBlock,
    objectKey: objectKey({ network, kind, firstBlock, lastBlock }),
    byteLength: member.bytes.length,
    rawLength: member.rawLength,
    sha256,
    firstHash: first.hash,
    firstParentHash: first.parentHash,
    lastHash: last.hash,
    proofs: relevantProofs(kind, proofs),
    ...notProvedIn(kind, blocks),
    fragments,
    formatVersion: FORMAT_VERSION,
  };
  const times = blocks.map(({ timestamp }) => timestamp);
  const [filter] = await Promise.all([
    putFilter({ context, objectStore }, row, { bytes: member.bytes, items, times }, signal),
    putBundle(objectStore, row, member.bytes, signal),
  ]).catch((error: unknown) => raiseExisting(kept.alarms, row, error));
  // After an error somebody may still look at it.
  spare.giveBack(member.bytes.buffer);
  await turn;
  const named = filter === null ? row : { ...row, filter };
  try {
    const clients = blocks.flatMap(({ client }) => client ?? []);
    await withSigner(signers, (signer) =>
      kept.bundles.publish(named, signer === undefined ? undefined : { signer, clients }),
    );
  } catch (error) {
    if (!isPackhouseError(error, 'BUNDLE_OVERLAP')) throw error;
    context.logger.info(
      { network, kind, from: firstBlock, to: lastBlock },
      'these blocks were published by another packer meanwhile',
    );
    return null;
  }
  context.metrics.count('packhouse_published_bundles_total', 'Bundles published', { network, kind });
  context.metrics.count(
    'packhouse_published_bytes_total',
    'Bytes of published bundles',
    { network, kind },
    member.bytes.length,
  );
  return named;
}

/** The proofs that hold for the file of one kind: those of traces only if traces are in it. */
export function relevantProofs(kind: Kind, proofs: readonly Proof[]): Proof[] {
  return proofs.filter((proof) => kind === 'traces' || (proof !== 'traces' && proof !== 'logAddresses'));
}

/** What of some block of a kind's file is not proved, each reason once. */
export function notProvedIn(kind: Kind, blocks: readonly StagedBlock[]): { notProved?: NotProved[] } {
  const reasons = new Map<string, NotProved>();
  for (const { notProved = [] } of blocks) {
    for (const one of notProved) {
      // Only the file of the blocks holds withdrawals.
      if (one.proof === 'withdrawalsRoot' && kind !== 'blocks') continue;
      if (!concerns(kind, one.because)) continue;
      if (relevantProofs(kind, [one.proof]).length > 0) reasons.set(`${one.proof} ${one.because}`, one);
    }
  }
  return reasons.size === 0 ? {} : { notProved: [...reasons.values()].slice(0, MAX_REASONS) };
}

/** The proofs that every block passed. Throws STAGE_CONFLICT if blocks are missing or do not follow one another. */
function provedTogether(
  blocks: readonly StagedBlock[],
  at: { network: string; firstBlock: number; lastBlock: number },
): Proof[] {
  const expected = at.lastBlock - at.firstBlock + 1;
  const broken = blocks.findIndex(
    (block, i) => block.number !== at.firstBlock + i || (i > 0 && block.parentHash !== blocks[i - 1]?.hash),
  );
  if (blocks.length !== expected || broken !== -1) {
    throw new PackhouseError({
      code: 'STAGE_CONFLICT',
      message: `Blocks ${at.firstBlock} to ${at.lastBlock} of ${at.network} cannot be packed: ${expected} linked blocks are expected, ${
        broken === -1
          ? `${blocks.length} are staged`
          : `block ${at.firstBlock + broken} does not follow the one before`
      }.`,
      data: { ...at, block: at.firstBlock + Math.max(broken, 0) },
    });
  }
  // Every link inside the range was just checked, and staging checked those to the neighbours.
  return provedByAll(blocks);
}

/** The proofs that every block passed; their parent links were checked. */
export function provedByAll(blocks: readonly StagedBlock[]): Proof[] {
  return PROOFS.filter(
    (proof) => proof === 'parentLink' || blocks.every(({ proofs }) => proofs.includes(proof)),
  );
}

interface RewoundParts {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
}

/** The alarm of a network whose database lacks entries that the store has. */
export const MANIFEST_REWOUND = 'MANIFEST_REWOUND' satisfies AlarmName;

/** Raises the alarm of each network, or of one, whose log in the store goes beyond the database's; one listing for each log. */
export async function raiseRewound(parts: RewoundParts, only?: string): Promise<void> {
  const { database } = parts;
  for (const { id: network } of await database.networks.list()) {
    if (network !== (only ?? network)) continue;
    const logs: string[] = [];
    for (const kind of KINDS) {
      const lost = await findLostEntries(parts, { network, kind });
      if (lost !== null) logs.push(`${kind} (entry ${lost.sequence})`);
    }
    if (logs.length === 0) continue;
    await database.network(network).alarms.raise({
      name: MANIFEST_REWOUND,
      message: `The database lacks signed entries of ${network} that the object store has: ${logs.join(', ')}. It was set back. Run \`packhouse adopt --network ${network}\`.`,
      data: { network },
    });
  }
}

/**
 * For the error of a put: OBJECT_EXISTS raises the alarm too, because packed again after a database was set back, blocks
 * may give other bytes than the published ones. Throws the error.
 */
async function raiseExisting(
  alarms: NetworkDatabase['alarms'],
  { network, kind, firstBlock, lastBlock }: BlockRange & { network: string; kind: Kind },
  error: unknown,
): Promise<never> {
  if (isPackhouseError(error, 'OBJECT_EXISTS')) {
    await alarms.raise({
      name: MANIFEST_REWOUND,
      message: `Blocks ${firstBlock}-${lastBlock} (${kind} of ${network}) are not published: ${error.message} If the database was set back, run \`packhouse adopt --network ${network}\`. If this alarm comes again, no signed entry names the object: move it away.`,
      data: { network, kind, ...error.data },
    });
  }
  throw error;
}

/**
 * The first entry in the store that the database's log lacks, in a part that begins behind what the database says is
 * stored; null: none. After a database was set back there are such parts.
 */
async function findLostEntries(
  { context, database, objectStore }: RewoundParts,
  { network, kind }: { network: string; kind: Kind },
): Promise<Pick<SealedEntry, 'sequence' | 'hash'> | null> {
  const { manifest } = database.network(network);
  const after = logKeyBefore(network, kind, (await manifest.storedUpTo(kind)) + 1);
  for await (const { key } of objectStore.list(logPrefix(network, kind), { after, signal: context.signal })) {
    const part = parseLogKey(key);
    if (part === null) continue;
    // What was written and not noted is no loss.
    const [entry] = await manifest.entriesAt(kind, [part.last]);
    if (entry?.hash.startsWith(part.hash) !== true) return { sequence: part.last, hash: part.hash };
  }
  return null;
}
