import { type Context, isPackhouseError, PackhouseError } from '@packhouse/runtime';
import type { DamagedBundle } from './damage.js';
import { type RepairParts, repairBundle } from './repair-bundle.js';

/** What came of the repair of one bundle. */
export interface Repair {
  bundle: DamagedBundle;
  /** `refused`: the chain itself differs, and somebody has to decide. */
  state: 'repaired' | 'failed' | 'refused';
  /** The version that is published now. */
  version: number;
  /** One sentence. */
  message: string;
}

/** Opens what a network's repairs need; called once a network that has damage, and closed behind the last repair. */
export type OpenRepair = (
  network: string,
) => Promise<Pick<RepairParts, 'source' | 'prover' | 'signers'> & { close(): Promise<void> }>;

/**
 * Repairs the damaged bundles of one network, one after the other. A bundle that cannot be repaired is told and left
 * as it is; the others go on. Throws only where store or database are gone, or when aborted.
 */
export async function repairNetwork(
  parts: Omit<RepairParts, 'source' | 'prover' | 'signers'> & { openRepair: OpenRepair },
  network: string,
  damaged: readonly DamagedBundle[],
  signal: AbortSignal,
  onRepair?: (repair: Repair) => void,
): Promise<Repair[]> {
  const { openRepair, ...shared } = parts;
  const repairs: Repair[] = [];
  const tell = (repair: Repair): void => {
    repairs.push(repair);
    onRepair?.(repair);
  };
  const opened = await openRepair(network).catch((error: unknown) => error as Error);
  if (opened instanceof Error) {
    for (const bundle of damaged) tell(failed(parts.context, bundle, opened));
    return repairs;
  }
  try {
    for (const bundle of damaged) {
      signal.throwIfAborted();
      try {
        tell(await repairOne({ ...shared, ...opened }, bundle, signal));
      } catch (error) {
        if (signal.aborted || isGone(error)) throw error;
        tell(failed(parts.context, bundle, error as Error));
      }
    }
    return repairs;
  } finally {
    await opened.close();
  }
}

async function repairOne(parts: RepairParts, bundle: DamagedBundle, signal: AbortSignal): Promise<Repair> {
  const { network, kind, start, end, version, causes } = bundle;
  if (causes.every((cause) => cause === 'parentLink')) await blameLink(parts, bundle, signal);
  const row = await repairBundle(parts, { network, kind, start, version, reason: bundle.message }, signal);
  count(parts.context, bundle, 'repaired');
  parts.context.logger.warn(
    { network, kind, start, end, version: row.version },
    'a damaged bundle was repaired',
  );
  return {
    bundle,
    state: 'repaired',
    version: row.version,
    message: `${network} ${kind} ${start}-${end} is repaired: version ${row.version} is published as ${row.objectKey}, ${bundle.key} is kept.`,
  };
}

/** Two bundles that are sound and do not follow each other: the nodes say which of them is of another chain. */
async function blameLink(
  { database, source }: RepairParts,
  { network, kind, start, end }: DamagedBundle,
  signal: AbortSignal,
): Promise<void> {
  const [before, row] = await Promise.all([
    database.bundles.covering(network, kind, start - 1),
    database.bundles.covering(network, kind, start),
  ]);
  if (before === null || row === null || row.firstParentHash === before.lastHash) return;
  const [theirs, ours] = [await source.blockHash(start - 1, signal), await source.blockHash(start, signal)];
  const wrong =
    ours !== row.firstHash
      ? { range: `${start}-${end}`, block: start, expected: row.firstHash, got: ours }
      : { range: `${before.start}-${before.end}`, block: start - 1, expected: before.lastHash, got: theirs };
  throw new PackhouseError({
    code: 'REPAIR_REFUSED',
    message: `${network} ${kind} ${start}-${end} does not follow the bundle before it, and is not repaired: the nodes give ${wrong.got ?? 'nothing'} as block ${wrong.block}, the index row of ${wrong.range} ${wrong.expected}. Nothing was changed.`,
    hint: 'The nodes are on another chain than the one that was published: find out which of the two is right.',
    data: { network, kind, ...wrong },
  });
}

function failed(context: Context, bundle: DamagedBundle, error: Error): Repair {
  const { network, kind, start, end, version } = bundle;
  const state = isPackhouseError(error, 'REPAIR_REFUSED') ? 'refused' : 'failed';
  count(context, bundle, state);
  context.logger.error({ network, kind, start, end, err: error }, 'a damaged bundle was not repaired');
  const named = isPackhouseError(error, 'REPAIR_REFUSED') || isPackhouseError(error, 'REPAIR_FAILED');
  const sentence = named
    ? error.message
    : `${network} ${kind} ${start}-${end} is not repaired: ${error.message} Nothing was changed.`;
  return { bundle, state, version, message: sentence };
}

function count(context: Context, { network, kind }: DamagedBundle, result: Repair['state']): void {
  context.metrics
    .counter('packhouse_repairs_total', 'Damaged bundles that were to be repaired, by what came of it', [
      'network',
      'kind',
      'result',
    ])
    .inc({ network, kind, result });
}

/** Without store and database nothing else can be repaired either. */
function isGone(error: unknown): boolean {
  return (
    isPackhouseError(error, 'DATABASE_UNAVAILABLE') ||
    isPackhouseError(error, 'OBJECT_STORE_UNAVAILABLE') ||
    isPackhouseError(error, 'DISK_FULL')
  );
}
