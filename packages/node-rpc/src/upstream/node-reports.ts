import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Context, createOnceAWhile, openScope } from '@packhouse/runtime';
import type { RecentFigures } from './recent-calls.js';

/** What this process knows of an upstream; see `NodeReport` of the database's contract. */
export interface UpstreamReport extends RecentFigures {
  state: 'ok' | 'resting' | 'another-chain' | 'another-branch' | 'distrusted' | 'cordoned';
  client: string | null;
  head: number | null;
  inFlight: number;
  maxInFlight: number;
  lies: number;
  keptBack: string | null;
  lastError: string | null;
  can: string[];
  lacks: string[];
}

interface ReportedUpstream {
  network: string;
  upstream: string;
  provider: string;
  report(): UpstreamReport;
  /** Told when operators take it out, and when they put it back; at once if it is out. */
  cordon(is: boolean): void;
}

/** What this process tells of its upstreams, and is told of them. */
export interface NodeReports {
  /** Adds an upstream; returns a function that takes it away. */
  add(upstream: ReportedUpstream): () => void;
}

/** Where reports are written and cordons are read. */
interface NodeTable {
  report(
    process: { process: string; role: 'ingester' | 'gateway'; host: string },
    rows: readonly { network: string; upstream: string; provider: string; report: UpstreamReport }[],
  ): Promise<void>;
  leave(process: string): Promise<void>;
  cordons(): Promise<{ network: string; upstream: string }[]>;
}

/** A cordon has its effect within this time, in milliseconds. */
const LOOK_EVERY_MS = 1_000;
/** Reports are written at every fifth look. */
const REPORT_EVERY = 5;
const COMPLAIN_MS = 60_000;

/**
 * Reports upstreams every five seconds, and reads every second which are cordoned. While the table is away, what was
 * cordoned stays so. Throws if it is away at the start: a cordoned upstream is not asked even once.
 */
export async function createNodeReports({
  context,
  role,
  table,
}: {
  context: Context;
  role: 'ingester' | 'gateway';
  table: NodeTable;
}): Promise<NodeReports & { close(): Promise<void> }> {
  const { clock, logger } = context;
  const self = { process: randomUUID(), role, host: hostname() };
  const upstreams = new Set<ReportedUpstream>();
  const scope = openScope(context.signal);
  const seldom = createOnceAWhile(COMPLAIN_MS, () => clock.elapsed());
  const keyOf = ({ network, upstream }: { network: string; upstream: string }): string =>
    JSON.stringify([network, upstream]);
  const read = async (): Promise<Set<string>> => new Set((await table.cordons()).map(keyOf));
  let cordoned = await read();

  const look = async (writes: boolean): Promise<void> => {
    const before = cordoned;
    cordoned = await read();
    for (const upstream of upstreams) {
      const is = cordoned.has(keyOf(upstream));
      if (is === before.has(keyOf(upstream))) continue;
      const { network, upstream: name } = upstream;
      logger.info(
        { network, upstream: name },
        is ? 'node is cordoned: it is not asked' : 'node is asked again',
      );
      upstream.cordon(is);
    }
    if (!writes) return;
    // While a changed networks file is taken up, an upstream may be here twice: the newer one counts.
    const newest = new Map([...upstreams].map((each) => [keyOf(each), each]));
    const rows = [...newest.values()].map((each) => ({
      ...{ network: each.network, upstream: each.upstream, provider: each.provider },
      report: each.report(),
    }));
    await table.report(self, rows);
  };
  const looking = (async () => {
    for (let at = 0; !scope.signal.aborted; at++) {
      await clock.sleep(LOOK_EVERY_MS, scope.signal).catch(() => undefined);
      if (scope.signal.aborted) return;
      await look(at % REPORT_EVERY === 0).catch((error: unknown) => {
        if (scope.signal.aborted || !seldom('look').say) return;
        logger.warn({ err: error }, 'what is known of nodes could not be written; it is tried again');
      });
    }
  })();

  return {
    add(upstream) {
      upstreams.add(upstream);
      if (cordoned.has(keyOf(upstream))) upstream.cordon(true);
      return () => upstreams.delete(upstream);
    },
    async close() {
      scope.abort(new Error('the process ends'));
      await looking;
      scope.close();
      await table.leave(self.process).catch(() => undefined);
    },
  };
}
