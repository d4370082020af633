import type { Database, Figures, HistorySample, NetworkStanding } from '@packhouse/database';
import type { Queues } from '@packhouse/queue';
import type { Context } from '@packhouse/runtime';
import { createIncreases, type Rates } from './increases.js';
import { orUnknown, sampleNodes } from './sample-nodes.js';

interface CollectParts {
  context: Context;
  database: Database;
  queues: Pick<Queues, 'counts'>;
}

/** What is sampled at one time, and the blocks in quarantine by network. */
interface Collected extends Omit<HistorySample, 'minute'> {
  quarantined: ReadonlyMap<string, number>;
}

/**
 * Creates a reader of all figures. Counters are known as rates from its second call on. What processes count in memory is
 * read from rows that they write anyway: usage of keys each second, requests to nodes in their reports each five seconds.
 */
export function createCollector({ context, database, queues }: CollectParts): () => Promise<Collected> {
  const { clock, logger } = context;
  const increases = {
    published: createIncreases(clock),
    nodes: createIncreases(clock),
    providers: createIncreases(clock),
    keys: createIncreases(clock),
  };

  /** Waiting and active jobs; unknown while the queues are away. */
  const readQueues = async (): Promise<[number | null, number | null]> => {
    try {
      const all = await Promise.all([queues.counts('ingest'), queues.counts('pack')]);
      const sum = (of: (counts: (typeof all)[number]) => number): number =>
        all.reduce((total, counts) => total + of(counts), 0);
      return [sum(({ waiting, delayed }) => waiting + delayed), sum(({ active }) => active)];
    } catch (error) {
      logger.warn({ err: error }, 'the queues were not sampled');
      return [null, null];
    }
  };

  return async () => {
    const { counters } = database.history;
    const standings = await database.standings();
    const quarantined = new Map<string, number>();
    for (const { network, blocks } of await database.quarantine.causes()) {
      quarantined.set(network, (quarantined.get(network) ?? 0) + blocks);
    }
    const alarms = new Map<string, number>();
    for (const { network } of await database.alarms.list()) {
      alarms.set(network, (alarms.get(network) ?? 0) + 1);
    }
    const published = increases.published(
      standings.flatMap(({ network, kinds }) =>
        kinds.map(({ kind, blocks, bytes }) => ({ name: network, part: kind, counts: [blocks, bytes] })),
      ),
    );
    const network = new Map<string, Figures>();
    for (const standing of standings) {
      const { network: name } = standing;
      network.set(name, [
        // Of which nothing is published has no counter.
        ...orUnknown(published?.has(name) === false ? [0, 0] : published?.get(name), 2),
        await readHeadLag(database, standing),
        toFinalizedLag(standing),
        quarantined.get(name) ?? 0,
        alarms.get(name) ?? 0,
      ]);
    }
    const node = sampleNodes(await counters.nodes(), increases.nodes);
    const prices = await readPrices(database);
    const provider = toFigures(increases.providers(await counters.providers()), 3, (name, rates) => {
      const price = prices.of.get(name);
      return [...rates, price === undefined ? null : ((rates[1] ?? 0) * price) / 1e6];
    });
    const key = toFigures(increases.keys(await counters.keys()), 5, (_, rates) => rates);
    const [waiting, active] = await readQueues();
    const kinds = standings.flatMap((standing) => standing.kinds);
    const total = (all: ReadonlyMap<string, Figures> | null, at: number): number | null =>
      all === null ? null : sumKnown([...all.values()].map((figures) => figures[at] ?? null));
    // In the order of HISTORY_FIGURES.
    const installation: Figures = [
      published === null ? null : total(network, 0),
      published === null ? null : total(network, 1),
      ...[0, 1, 2, 3].map((at) => total(key, at)),
      node.size === 0 ? 0 : total(node, 0),
      node.size === 0 ? 0 : total(node, 1),
      total(provider, 1),
      prices.comparable ? total(provider, 3) : null,
      await database.staging.diskBytes(),
      waiting,
      active,
      [...quarantined.values()].reduce((sum, blocks) => sum + blocks, 0),
      [...alarms.values()].reduce((sum, count) => sum + count, 0),
      standings.length,
      kinds.reduce((sum, { bundles }) => sum + bundles, 0),
      kinds.reduce((sum, { bytes }) => sum + bytes, 0),
    ];
    const none = new Map<string, Figures>();
    const named = { network, node, provider: provider ?? none, key: withoutIdle(key ?? none) };
    return { installation, named, quarantined };
  };
}

/** Blocks between the head and the newest staged or published one, if backfills follow the head. */
async function readHeadLag(
  database: Database,
  { network, head, lastRequested, kinds }: NetworkStanding,
): Promise<number | null> {
  if (head === null || !kinds.some(({ requested }) => requested)) return null;
  if (lastRequested !== null && lastRequested < head) return null;
  const staged = await database.network(network).staging.newest();
  const newest = Math.max(staged?.number ?? -1, ...kinds.map((kind) => kind.newest ?? -1));
  return Math.max(0, head - newest);
}

function toFinalizedLag({ finalized, completeThrough }: NetworkStanding): number | null {
  return finalized === null || completeThrough === null ? null : Math.max(0, finalized - completeThrough);
}

/** Prices of a million units by provider, and whether all are in one currency. */
async function readPrices(database: Database) {
  const priced = (await database.budgets.list()).filter(({ pricePerMillion }) => pricePerMillion !== null);
  return {
    of: new Map(priced.map(({ provider, pricePerMillion }) => [provider, pricePerMillion ?? 0])),
    comparable: priced.length > 0 && new Set(priced.map(({ currency }) => currency)).size === 1,
  };
}

/** Figures of what has rates; null: none are known yet. */
function toFigures(
  rates: ReadonlyMap<string, Rates> | null,
  length: number,
  map: (name: string, rates: readonly number[]) => Figures,
): Map<string, Figures> | null {
  if (rates === null) return null;
  const unknown = map('', new Array<number>(length).fill(0)).map(() => null);
  return new Map([...rates].map(([name, own]) => [name, own === null ? unknown : map(name, own)]));
}

/** Keys that did nothing have no row. */
function withoutIdle(all: ReadonlyMap<string, Figures>): Map<string, Figures> {
  return new Map([...all].filter(([, figures]) => figures.some((value) => value !== 0)));
}

function sumKnown(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return values.length === 0 ? 0 : null;
  return known.reduce((sum, value) => sum + value, 0);
}
