import type { Database, NodeHealth } from '@packhouse/database';
import type { AlarmName } from '@packhouse/pipeline';
import { type Context, getOrAdd } from '@packhouse/runtime';

/** The alarm of a network of which no node answers; ends by itself. */
const ALARM: AlarmName = 'NODES_SILENT';
/** After so long without an answer, in milliseconds: a node that restarts is no alarm. */
const ALARM_MS = 60_000;
/** Reports that are read: one per process and node. */
const MAX_REPORTS = 50_000;
/** What nodes that do not answer leave in quarantine: it is tried at once when one answers. */
const CAUSES = ['NODE_UNREACHABLE', 'NODE_TIMEOUT', 'BLOCKS_UNAVAILABLE'];
const EVERYTHING = { firstBlock: 0, lastBlock: Number.MAX_SAFE_INTEGER };

/** Since when no node of a network has answered. */
interface Silence {
  since: Date;
  /** The same in milliseconds, when it was reported. */
  forMs: number;
  /** The nodes that are called, by name. */
  nodes: string[];
  lastError: string | null;
}

/**
 * By network, since when no process has an answer of any node of it; of some networks, or of all. Those of which a node
 * answers, or no process calls one, are missing.
 */
export async function findSilences(
  database: Pick<Database, 'nodes'>,
  networks?: readonly string[],
): Promise<ReadonlyMap<string, Silence>> {
  const reports = await database.nodes.health({ networks, limit: MAX_REPORTS });
  const byNetwork = new Map<string, NodeHealth[]>();
  for (const row of reports) getOrAdd(byNetwork, row.network, (): NodeHealth[] => []).push(row);
  return new Map(
    [...byNetwork].flatMap(([network, own]) => {
      const silence = getSilence(own);
      return silence === null ? [] : [[network, silence] as const];
    }),
  );
}

/** The same of reports of one network. Nodes that are cordoned or of another chain are not called, and do not count. */
export function getSilence(reports: readonly NodeHealth[]): Silence | null {
  const called = reports.filter(
    ({ report }) => report.state !== 'cordoned' && report.state !== 'another-chain',
  );
  const silences = called.flatMap(({ report: { failingForMs: forMs }, seenAt }) =>
    typeof forMs !== 'number' ? [] : [{ forMs, since: new Date(seenAt.getTime() - forMs) }],
  );
  const [last] = silences.sort((a, b) => a.forMs - b.forMs);
  if (last === undefined || silences.length < called.length) return null;
  return {
    ...last,
    nodes: [...new Set(called.map(({ upstream }) => upstream))],
    lastError: called.find(({ report }) => report.lastError !== null)?.report.lastError ?? null,
  };
}

/** Raises the alarm while no node of a network answers. When one does, clears it and has what failed tried at once. */
export async function checkSilence(
  { context, database }: { context: Context; database: Database },
  network: string,
  alarms: readonly { name: string }[],
): Promise<void> {
  const silence = (await findSilences(database, [network])).get(network) ?? null;
  const isOpen = alarms.some(({ name }) => name === ALARM);
  const own = database.network(network);
  if (silence === null) {
    if (!isOpen) return;
    await own.alarms.clear(ALARM, 'itself');
    const retried = await own.quarantine.retry(EVERYTHING, CAUSES);
    context.logger.info({ network, retried }, 'a node answers again: failed blocks are retried');
    return;
  }
  if (isOpen || silence.forMs < ALARM_MS) return;
  const { lastError, nodes, since } = silence;
  const message = `No node of ${network} has answered since ${since.toISOString()} (${nodes.join(', ')})${lastError === null ? '' : `: ${lastError}`}. Nothing of it is fetched. Check that they run, or add another one.`;
  await own.alarms.raise({ name: ALARM, message, data: { since, nodes } });
  context.logger.error({ network, alarm: ALARM, since }, 'ALARM: no node answers');
}
