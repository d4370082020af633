import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Context, createOnceAWhile, openScope } from '@packhouse/runtime';
import type { Upstream } from './upstream.js';

/** What this process knows of an upstream; see `NodeReport` of the database's contract. */
type UpstreamReport = ReturnType<typeof describeUpstream>;

/** What depends on how an upstream is asked. */
interface Abilities {
  client: string | null;
  inFlight: number;
  maxInFlight: number;
  capabilities: string[];
  missingCapabilities: string[];
}

interface ReportedUpstream {
  network: string;
  upstream: string;
  provider: string;
  report(): UpstreamReport;
  /** Called when an operator takes it out or puts it back; at once if it is out. */
  cordon(is: boolean): void;
}

/** Reports the upstreams of this process, and takes cordons over. */
export interface NodeReports {
  /** Adds an upstream; returns a function that takes it away. */
  add(upstream: ReportedUpstream): () => void;
}

/** Where reports are written and cordons are read. */
interface NodeTable {
  report(
    process: { process: string; role: 'ingester' | 'gateway'; host: string },
    rows: readonly {
      network: string;
      upstream: string;
      provider: string;
      report: UpstreamReport & { stateForMs: number };
    }[],
  ): Promise<void>;
  leave(process: string): Promise<void>;
  cordons(): Promise<{ network: string; upstream: string }[]>;
}

/** A cordon has its effect within this time, in milliseconds. */
const POLL_EVERY_MS = 1_000;
/** Reports are written at every fifth sync. */
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
  const toKey = ({ network, upstream }: { network: string; upstream: string }): string =>
    JSON.stringify([network, upstream]);
  const read = async (): Promise<Set<string>> => new Set((await table.cordons()).map(toKey));
  let cordoned = await read();
  /** What each upstream is at, and since when, by `elapsed`. */
  let states = new Map<string, { state: UpstreamReport['state']; since: number }>();
  /** For how long an upstream was at this at each report. */
  const timeStates = (reports: readonly [key: string, report: UpstreamReport][]): Map<string, number> => {
    const now = clock.elapsed();
    const before = states;
    states = new Map(
      reports.map(([key, { state }]) => {
        const known = before.get(key);
        return [key, known?.state === state ? known : { state, since: now }];
      }),
    );
    return new Map([...states].map(([key, { since }]) => [key, Math.round(now - since)]));
  };

  const sync = async (writes: boolean): Promise<void> => {
    const before = cordoned;
    cordoned = await read();
    for (const upstream of upstreams) {
      const is = cordoned.has(toKey(upstream));
      if (is === before.has(toKey(upstream))) continue;
      const { network, upstream: name } = upstream;
      logger.info({ network, upstream: name }, is ? 'upstream cordoned' : 'upstream uncordoned');
      upstream.cordon(is);
    }
    if (!writes) return;
    // While a changed networks file is taken up, an upstream may be here twice: the newer one counts.
    const newest = new Map([...upstreams].map((each) => [toKey(each), each]));
    const described = [...newest].map(([key, each]) => [key, each, each.report()] as const);
    const times = timeStates(described.map(([key, , report]) => [key, report]));
    const rows = described.map(([key, { network, upstream, provider }, report]) => ({
      network,
      upstream,
      provider,
      report: { ...report, stateForMs: times.get(key) ?? 0 },
    }));
    await table.report(self, rows);
  };
  const syncing = (async () => {
    for (let at = 0; !scope.signal.aborted; at++) {
      await clock.sleep(POLL_EVERY_MS, scope.signal).catch(() => undefined);
      if (scope.signal.aborted) return;
      await sync(at % REPORT_EVERY === 0).catch((error: unknown) => {
        if (scope.signal.aborted || !seldom('sync').say) return;
        logger.warn({ err: error }, 'node reports not written: retrying');
      });
    }
  })();

  return {
    add(upstream) {
      upstreams.add(upstream);
      if (cordoned.has(toKey(upstream))) upstream.cordon(true);
      return () => upstreams.delete(upstream);
    },
    async close() {
      scope.abort(new Error('the process ends'));
      await syncing;
      scope.close();
      await table.leave(self.process).catch(() => undefined);
    },
  };
}

/** Reports these upstreams; `describe` adds what depends on how they are asked. Returns a function that ends it. */
export function reportUpstreams<U extends Upstream>(
  reports: NodeReports | undefined,
  network: string,
  upstreams: readonly U[],
  describe: (upstream: U) => Abilities,
): () => void {
  const ends = upstreams.map((upstream) =>
    reports?.add({
      network,
      upstream: upstream.name,
      provider: upstream.provider,
      cordon: (is) => upstream.cordon(is),
      report: () => describeUpstream(upstream, describe(upstream)),
    }),
  );
  return () => {
    for (const end of ends) end?.();
  };
}

function describeUpstream(upstream: Upstream, own: Abilities) {
  const { head, history, invalidResponses, lastError, recent, spending } = upstream;
  return {
    ...own,
    ...recent.summarize(),
    totals: recent.totals(),
    missingCapabilities: [...own.missingCapabilities, ...history.describe()],
    state: toState(upstream),
    head,
    invalidResponses,
    leftOut: upstream.leftOut,
    throttledBy: spending.refusal('backfill')?.error.message ?? null,
    lastError,
    failingForMs: upstream.circuit.failingForMs(),
  };
}

function toState(
  upstream: Upstream,
): 'ok' | 'resting' | 'another-chain' | 'left-out' | 'another-branch' | 'distrusted' | 'cordoned' {
  if (upstream.cordoned) return 'cordoned';
  if (upstream.exclusion !== null) return 'another-chain';
  if (upstream.leftOut !== null) return 'left-out';
  if (upstream.offChain) return 'another-branch';
  if (upstream.isSuspect()) return 'distrusted';
  return upstream.circuit.state === 'closed' && upstream.pause.waitMs() === 0 ? 'ok' : 'resting';
}
