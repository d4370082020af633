import { type BlockRange, isKind, type Kind } from '@packhouse/chain';
import { type AlarmRow, type Database, withLock } from '@packhouse/database';
import type { AlarmName } from '@packhouse/pipeline';
import type { Finding, FindingCause } from './finding.js';

/** A published bundle with a finding. */
export interface DamagedBundle extends BlockRange {
  network: string;
  kind: Kind;
  key: string;
  version: number;
  causes: FindingCause[];
  /** The sentence of the first finding. */
  message: string;
}

/** Damaged bundles that are listed; more are only counted. */
const MOST = 10_000;

/** The damaged bundles of an audit. */
interface Damage {
  add(finding: Finding): void;
  of(network: string): DamagedBundle[];
  /** Findings about bundles beyond the list, and about rows that cannot be read. */
  others(network: string): number;
}

export function createDamage(): Damage {
  const bundles = new Map<string, DamagedBundle>();
  const others = new Map<string, number>();
  return {
    add({ network, kind, from: firstBlock, to: lastBlock, key, version, cause, message, harmless }) {
      // The log is no bundle: `packhouse adopt` restores it. A data file is written again from the bundles.
      if (harmless || cause === 'manifest' || cause === 'dataFile') return;
      const named =
        kind !== null &&
        isKind(kind) &&
        firstBlock !== null &&
        lastBlock !== null &&
        key !== null &&
        version !== null;
      const known = key === null ? undefined : bundles.get(key);
      if (known !== undefined) known.causes.push(cause);
      else if (!named || bundles.size >= MOST) others.set(network, (others.get(network) ?? 0) + 1);
      else bundles.set(key, { network, kind, firstBlock, lastBlock, key, version, causes: [cause], message });
    },
    of: (network) => [...bundles.values()].filter((bundle) => bundle.network === network),
    others: (network) => others.get(network) ?? 0,
  };
}

/** The alarm of a network with damaged bundles. */
const BUNDLE_DAMAGED: AlarmName = 'BUNDLE_DAMAGED';

/** Bundles that the alarm lists; more are only counted. */
const NAMED = 1_000;
/** Bundles in its sentence. */
const SHOWN = 5;

/** A bundle as the alarm lists it. */
interface AlarmedBundle {
  kind: Kind;
  from: number;
  to: number;
  /** Its object. */
  key: string;
  causes: string[];
}

/** The damaged bundles that the open alarm of a network lists. */
export async function alarmedBundles(
  database: Pick<Database, 'network'>,
  network: string,
): Promise<{ open: boolean; bundles: AlarmedBundle[]; more: number }> {
  const alarm = (await database.network(network).alarms.list()).find(({ name }) => name === BUNDLE_DAMAGED);
  return { open: alarm !== undefined, ...getContent(alarm) };
}

/** The damaged bundles that the open alarms of all networks list. */
export async function listDamage(database: Pick<Database, 'alarms'>): Promise<AlarmedBundle[]> {
  const alarms = await database.alarms.list();
  return alarms.filter(({ name }) => name === BUNDLE_DAMAGED).flatMap((alarm) => getContent(alarm).bundles);
}

/**
 * Adds bundles that were found damaged outside of an audit to the alarm of their network, at most NAMED. Returns false
 * if another process is at it, or its write came between: then it is to be tried again.
 */
export async function raiseDamage(
  database: Pick<Database, 'network' | 'tryLock'>,
  network: string,
  damaged: readonly DamagedBundle[],
): Promise<boolean> {
  const raised = await withLock(database, `damage:${network}`, undefined, async () => {
    await settleAlarm(database, network, { damaged, others: 0, seen: () => false, everything: false });
    const { bundles } = await alarmedBundles(database, network);
    return damaged.every((bundle) => bundles.some(({ key }) => key === bundle.key));
  });
  return raised ?? false;
}

/**
 * Raises, renews or clears the alarm after an audit: a bundle stays listed until a later audit checked it (`seen`) and
 * found no damage. The count of bundles beyond the list is only reset by an audit of `everything`.
 */
export async function settleAlarm(
  database: Pick<Database, 'network'>,
  network: string,
  audit: {
    damaged: readonly DamagedBundle[];
    others: number;
    seen(bundle: AlarmedBundle): boolean;
    everything: boolean;
  },
): Promise<void> {
  const { open, bundles: known, more } = await alarmedBundles(database, network);
  const found = audit.damaged.map(
    ({ kind, firstBlock: from, lastBlock: to, key, causes }): AlarmedBundle => ({
      kind,
      from,
      to,
      key,
      causes,
    }),
  );
  const same = (a: AlarmedBundle, b: AlarmedBundle): boolean => a.kind === b.kind && a.from === b.from;
  const kept = known.filter((bundle) => !audit.seen(bundle) && !found.some((one) => same(one, bundle)));
  const all = [...found, ...kept];
  const bundles = all.slice(0, NAMED);
  const left = (audit.everything ? 0 : more) + audit.others + all.length - bundles.length;
  const count = bundles.length + left;
  if (count === 0) {
    if (open) await database.network(network).alarms.clear(BUNDLE_DAMAGED, 'itself');
    return;
  }
  const names = bundles
    .slice(0, SHOWN)
    .map(({ kind, from, to, causes }) => `${kind} ${from}-${to} (${causes.join(', ')})`);
  const rest = count - names.length;
  await database.network(network).alarms.raise({
    name: BUNDLE_DAMAGED,
    message: `${count} published ${count === 1 ? 'bundle' : 'bundles'} of ${network} ${count === 1 ? 'is' : 'are'} damaged: ${names.join('; ')}${
      rest > 0 ? `${names.length > 0 ? ' and ' : ''}${rest} more` : ''
    }. Run \`packhouse audit --network ${network} --repair\`.`,
    data: { bundles, more: left },
  });
}

function getContent(alarm: AlarmRow | undefined): { bundles: AlarmedBundle[]; more: number } {
  const { bundles, more } = (alarm?.data ?? {}) as { bundles?: unknown; more?: unknown };
  return {
    bundles: Array.isArray(bundles) ? (bundles as AlarmedBundle[]).filter(({ kind }) => isKind(kind)) : [],
    more: typeof more === 'number' ? more : 0,
  };
}
