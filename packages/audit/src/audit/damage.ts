import { type BlockRange, isKind, isTable, type Kind, type TableName } from '@packhouse/chain';
import { type AlarmRow, type Database, withLock } from '@packhouse/database';
import { isLakeKey } from '@packhouse/lake';
import type { AlarmName } from '@packhouse/pipeline';
import { type Finding, type FindingCause, NO_OBJECT } from './finding.js';

/** A published bundle, or a data file of the lake, with a finding. */
export interface DamagedFile extends BlockRange {
  network: string;
  /** Of a data file, its table. */
  kind: TableName;
  key: string;
  /** Of a data file, the snapshot that added it. */
  version: number;
  causes: FindingCause[];
  /** The sentence of the first finding. */
  message: string;
}

export type DamagedBundle = DamagedFile & { kind: Kind };

/** Damaged bundles that are listed; more are only counted. */
const MOST = 10_000;

/** The damaged files of an audit. */
interface Damage {
  add(finding: Finding): void;
  of(network: string): DamagedBundle[];
  /** Data files of the lake whose bytes are missing or others than their rows say. */
  dataFiles(network: string): DamagedFile[];
  /** Findings about bundles beyond the list, and about rows that cannot be read. */
  others(network: string): number;
}

export function createDamage(): Damage {
  const bundles = new Map<string, DamagedBundle>();
  const dataFiles: DamagedFile[] = [];
  const others = new Map<string, number>();
  return {
    add({ network, kind, from: firstBlock, to: lastBlock, key, version, cause, message, got, harmless }) {
      // The log is no bundle: `packhouse adopt` restores it.
      if (harmless || cause === 'manifest') return;
      const place =
        kind !== null && firstBlock !== null && lastBlock !== null && key !== null && version !== null
          ? { network, kind, firstBlock, lastBlock, key, version, message }
          : null;
      if (cause === 'dataFile') {
        // The bytes of one that is only unsigned are right.
        if (place !== null && got !== null && dataFiles.length < MOST)
          dataFiles.push({ ...place, causes: [got === NO_OBJECT ? 'missing' : 'sha256'] });
        return;
      }
      const known = key === null ? undefined : bundles.get(key);
      if (known !== undefined) known.causes.push(cause);
      else if (place === null || !isKind(place.kind) || bundles.size >= MOST)
        others.set(network, (others.get(network) ?? 0) + 1);
      else bundles.set(place.key, { ...place, kind: place.kind, causes: [cause] });
    },
    dataFiles: (network) => dataFiles.filter((file) => file.network === network),
    of: (network) => [...bundles.values()].filter((bundle) => bundle.network === network),
    others: (network) => others.get(network) ?? 0,
  };
}

/** The alarm of a network with damaged files. */
const BUNDLE_DAMAGED: AlarmName = 'BUNDLE_DAMAGED';

/** Files that the alarm lists; more are only counted. */
const NAMED = 1_000;
/** Files in its sentence. */
const SHOWN = 5;

/** A file as the alarm lists it. */
export interface AlarmedFile {
  /** Of a data file of the lake, its table. */
  kind: TableName;
  from: number;
  to: number;
  /** Its object. */
  key: string;
  /** Absent in alarms of earlier versions. */
  version?: number;
  causes: string[];
}

/** The damaged files that the open alarm of a network lists. */
export async function alarmedFiles(
  database: Pick<Database, 'network'>,
  network: string,
): Promise<{ open: boolean; bundles: AlarmedFile[]; more: number }> {
  const alarm = (await database.network(network).alarms.list()).find(({ name }) => name === BUNDLE_DAMAGED);
  return { open: alarm !== undefined, ...getContent(alarm) };
}

/** The damaged files that the open alarms of all networks list. */
export async function listDamage(database: Pick<Database, 'alarms'>): Promise<AlarmedFile[]> {
  const alarms = await database.alarms.list();
  return alarms.filter(({ name }) => name === BUNDLE_DAMAGED).flatMap((alarm) => getContent(alarm).bundles);
}

/**
 * Adds files that were found damaged outside of an audit to the alarm of their network, at most NAMED. Returns false
 * if another process is at it, or its write came between: then it is to be tried again.
 */
export async function raiseDamage(
  database: Pick<Database, 'network' | 'tryLock'>,
  network: string,
  damaged: readonly DamagedFile[],
): Promise<boolean> {
  const raised = await withLock(database, `damage:${network}`, undefined, async () => {
    await settleAlarm(database, network, { damaged, others: 0, seen: () => false, everything: false });
    const { bundles } = await alarmedFiles(database, network);
    return damaged.every((bundle) => bundles.some(({ key }) => key === bundle.key));
  });
  return raised ?? false;
}

/**
 * Raises, renews or clears the alarm after an audit: a file stays listed until a later audit checked it (`seen`) and
 * found no damage. The count of files beyond the list is only reset by an audit of `everything`.
 */
export async function settleAlarm(
  database: Pick<Database, 'network'>,
  network: string,
  audit: {
    damaged: readonly DamagedFile[];
    others: number;
    seen(bundle: AlarmedFile): boolean;
    everything: boolean;
  },
): Promise<void> {
  const { open, bundles: known, more } = await alarmedFiles(database, network);
  const found = audit.damaged.map(
    ({ kind, firstBlock: from, lastBlock: to, key, version, causes }): AlarmedFile => ({
      kind,
      from,
      to,
      key,
      version,
      causes,
    }),
  );
  const same = (a: AlarmedFile, b: AlarmedFile): boolean =>
    a.kind === b.kind && a.from === b.from && isLakeKey(a.key) === isLakeKey(b.key);
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
    .map(
      ({ kind, from, to, key, causes }) =>
        `${isLakeKey(key) ? 'table ' : ''}${kind} ${from}-${to} (${causes.join(', ')})`,
    );
  const noun = bundles.some(({ key }) => isLakeKey(key)) ? 'file' : 'bundle';
  const rest = count - names.length;
  await database.network(network).alarms.raise({
    name: BUNDLE_DAMAGED,
    message: `${count} published ${count === 1 ? noun : `${noun}s`} of ${network} ${count === 1 ? 'is' : 'are'} damaged: ${names.join('; ')}${
      rest > 0 ? `${names.length > 0 ? ' and ' : ''}${rest} more` : ''
    }. Run \`packhouse audit --network ${network} --repair\`.`,
    data: { bundles, more: left },
  });
}

function getContent(alarm: AlarmRow | undefined): { bundles: AlarmedFile[]; more: number } {
  const { bundles, more } = (alarm?.data ?? {}) as { bundles?: unknown; more?: unknown };
  return {
    bundles: Array.isArray(bundles) ? (bundles as AlarmedFile[]).filter(({ kind }) => isTable(kind)) : [],
    more: typeof more === 'number' ? more : 0,
  };
}
