import { isKind, type Kind } from '@packhouse/chain';
import type { AlarmRow, Database } from '@packhouse/database';
import type { DamagedBundle } from './damage.js';

/** The alarm of a network with damaged bundles. */
export const BUNDLE_DAMAGED = 'BUNDLE_DAMAGED';

/** Bundles that the alarm names; more are counted. */
const NAMED = 1_000;
/** Bundles in its sentence. */
const SHOWN = 5;

/** A bundle as the alarm remembers it. */
export interface AlarmedBundle {
  kind: Kind;
  start: number;
  end: number;
  causes: string[];
}

/** What is known to be damaged of a network, by the open alarm. */
export async function alarmedBundles(
  database: Pick<Database, 'alarms'>,
  network: string,
): Promise<{ open: boolean; bundles: AlarmedBundle[]; more: number }> {
  const alarm = (await database.alarms.list({ network })).find(({ name }) => name === BUNDLE_DAMAGED);
  return { open: alarm !== undefined, ...contentOf(alarm) };
}

/**
 * Raises, renews or clears the alarm after an audit: what was found stays named until a later audit saw the same
 * bundle (`seen`) without damage. Bundles beyond those it can name are forgotten only by an audit of `everything`.
 */
export async function settleAlarm(
  database: Pick<Database, 'alarms'>,
  network: string,
  audit: {
    damaged: readonly DamagedBundle[];
    others: number;
    seen(bundle: AlarmedBundle): boolean;
    everything: boolean;
  },
): Promise<void> {
  const { open, bundles: known, more } = await alarmedBundles(database, network);
  const found = audit.damaged.map(({ kind, start, end, causes }) => ({ kind, start, end, causes }));
  const same = (a: AlarmedBundle, b: AlarmedBundle): boolean => a.kind === b.kind && a.start === b.start;
  const kept = known.filter((bundle) => !audit.seen(bundle) && !found.some((one) => same(one, bundle)));
  const all: AlarmedBundle[] = [...found, ...kept];
  const left = (audit.everything ? 0 : more) + audit.others + Math.max(0, all.length - NAMED);
  if (all.length + left === 0) {
    if (open) await database.alarms.clear(network, BUNDLE_DAMAGED, 'itself');
    return;
  }
  const bundles = all.slice(0, NAMED);
  const count = all.length + left - Math.max(0, all.length - NAMED);
  const names = bundles
    .slice(0, SHOWN)
    .map(({ kind, start, end, causes }) => `${kind} ${start}-${end} (${causes.join(', ')})`);
  const rest = count - names.length;
  await database.alarms.raise({
    network,
    name: BUNDLE_DAMAGED,
    message: `${count} published ${count === 1 ? 'bundle' : 'bundles'} of ${network} ${count === 1 ? 'is' : 'are'} damaged: ${names.join('; ')}${
      rest > 0 ? `${names.length > 0 ? ' and ' : ''}${rest} more` : ''
    }. Run \`packhouse audit --network ${network} --repair\`.`,
    data: { bundles, more: left },
  });
}

function contentOf(alarm: AlarmRow | undefined): { bundles: AlarmedBundle[]; more: number } {
  const { bundles, more } = (alarm?.data ?? {}) as { bundles?: unknown; more?: unknown };
  return {
    bundles: Array.isArray(bundles) ? (bundles as AlarmedBundle[]).filter(({ kind }) => isKind(kind)) : [],
    more: typeof more === 'number' ? more : 0,
  };
}
