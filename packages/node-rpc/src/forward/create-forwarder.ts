import { setMaxListeners } from 'node:events';
import type { Network } from '@packhouse/networks';
import { type Context, createOnceAWhile } from '@packhouse/runtime';
import type { NodeFinding } from '../heads/final-branches.js';
import type { Spending } from '../spending/spending.js';
import { createUpstreamMetrics } from '../upstream/metrics.js';
import { type NodeReports, reportUpstreams } from '../upstream/node-reports.js';
import { createAnswerCall } from './answer-call.js';
import { createCandidateSearch, getTip, type Pool } from './candidates.js';
import { withDeadline } from './deadline.js';
import type { Forwarder } from './forwarder.js';
import { broadcast } from './race.js';
import type { ForwardRequest, InvalidResponse } from './send/forward-request.js';
import { createMethodTimes, type ForwardOptions, ForwardUpstream } from './send/forward-upstream.js';
import { createAdvertisedTip } from './tip/advertised-tip.js';
import { createSharedEpoch, type SharedTips } from './tip/shared-tips.js';
import { createTaggedBlocks } from './tip/tagged-blocks.js';
import { watchHeads } from './tip/watch-heads.js';

interface ForwarderOptions {
  network: Network;
  context: Context;
  /** Called for each answer that a request's `prove` finds false. */
  onInvalidResponse?: (response: InvalidResponse) => void;
  /** Called with each reason not to believe what an upstream said before; a false answer is reported above as well. */
  onFinding?: (finding: NodeFinding) => void;
  /** The newest numbers that all gateways advertised; default: those of this process alone. */
  tips?: SharedTips;
  /** Counts the requests; default: they are not counted. */
  spending?: Spending;
  /** Reports the upstreams, and says which are cordoned; default: neither. */
  reports?: NodeReports;
}

/** False answers of a node make what is kept doubtful at most this often, in milliseconds. */
const LIAR_MS = 60_000;

/** Calls of one caller that may come at once. */
const MOST_TOGETHER = 32;

/** Creates the pool of one network and starts to watch its heads. */
export function createForwarder(options: ForwarderOptions): Forwarder {
  const { context, network, reports, tips } = options;
  const { clock } = context;
  const times = createMethodTimes();
  const waiting = new WeakSet<ForwardRequest>();
  const findings = createFindings(options, () => epoch.raise());
  const nodes = createNodes(options, { times, waiting, onInvalidResponse: findings.onFalse });
  const unreport = reportUpstreams(reports, network.id, nodes, ({ inFlight, maxInFlight, tagged }) => ({
    client: null,
    inFlight,
    maxInFlight,
    capabilities: tagged === null ? [] : ['the finalized tag'],
    missingCapabilities: [],
  }));
  const closing = new AbortController();
  // A listener for each question that is under way.
  setMaxListeners(0, closing.signal);
  const single = nodes.length === 1 && tips === undefined;
  const alone = createAloneReport(options);
  const names = { clock, network: `${network.id} ${network.chainId}`, shared: tips, onStoreAway: alone };
  const advertised = createAdvertisedTip(names);
  const epoch = createSharedEpoch({ ...names, signal: closing.signal });
  const pool: Pool = {
    nodes,
    single,
    newest: () => max([getTip(nodes, clock), single ? null : advertised.known('latest')]),
    finalized() {
      const highest = max(nodes.map((node) => node.finalized));
      const tie = watching.tie();
      return highest === null || tie === null ? highest : Math.min(highest, tie.agreed);
    },
    tie: () => watching.tie(),
  };
  const watching = watchHeads({
    network,
    nodes,
    context,
    signal: closing.signal,
    advertised: () => advertised.known('latest'),
    onFinding: findings.onFinding,
    onBlock(tag, number) {
      if (!single) {
        void advertised.raise(tag, number);
        void advertised.ready();
      }
      candidates.onBlock();
    },
    onLeftOut() {
      const tagged = max(nodes.map((node) => node.tagged));
      void advertised.lower('latest', getTip(nodes, clock));
      for (const tag of ['safe', 'finalized'] as const) void advertised.lower(tag, tagged);
    },
  });
  const candidates = createCandidateSearch(pool, watching.poll);
  const answerCall = createAnswerCall({
    pool,
    times,
    advertised,
    find: candidates.find,
    onOutvoted: findings.onOutvoted,
    pollNow: watching.pollNow,
  });
  const getTaggedBlock = createTaggedBlocks({
    network,
    nodes,
    advertised,
    clock,
    newest: pool.newest,
    ask: (request) => forwarder.call(request),
  });

  const forwarder: Forwarder = {
    call: (request) =>
      withDeadline(
        request,
        () => waiting.has(request),
        async ({ check, tries }) => {
          for (const wait of [watching.used, advertised.ready]) {
            const pending = wait();
            if (pending === undefined) continue;
            await pending;
            check();
          }
          return answerCall(request, tries);
        },
      ),
    broadcast(request, most) {
      void watching.used();
      return broadcast(candidates.rank(request).nodes, request, most, closing.signal);
    },
    head() {
      void watching.used();
      return pool.newest();
    },
    newest() {
      const pending = [watching.used(), single ? undefined : advertised.refresh()];
      if (pending.every((each) => each === undefined)) return pool.newest();
      return Promise.all(pending).then(pool.newest);
    },
    async taggedBlock(tag) {
      await watching.used();
      return getTaggedBlock(tag);
    },
    epoch: epoch.current,
    refreshEpoch: epoch.refresh,
    sharedHead: (by) => findSharedHead(nodes, by),
    finalized: pool.finalized,
    callsTogether: (method) => countTogether(nodes, method),
    status: () => nodes.map(describeNode),
    async close() {
      unreport();
      closing.abort(new Error('the gateway closes'));
      await Promise.all([
        advertised.leave(),
        watching.ended,
        epoch.ended,
        ...nodes.map((node) => node.http.destroy()),
      ]);
    },
  };
  return forwarder;
}

/** The upstreams that calls are forwarded to. */
function createNodes(
  { context, network, spending }: ForwarderOptions,
  shared: Pick<ForwardOptions, 'times' | 'waiting' | 'onInvalidResponse'>,
): ForwardUpstream[] {
  const getMetrics = createUpstreamMetrics(context.metrics, network.id);
  return network.upstreams.map(
    (upstream) =>
      new ForwardUpstream({
        ...shared,
        network,
        context,
        spending,
        upstream,
        metrics: getMetrics(upstream.name),
      }),
  );
}

/** What is found about nodes: each finding makes what is kept doubtful, which `raise` says to all. */
function createFindings(options: ForwarderOptions, raise: () => void) {
  const { clock } = options.context;
  const liars = createOnceAWhile(LIAR_MS, () => clock.elapsed());
  const onFinding = (finding: NodeFinding): void => {
    raise();
    options.onFinding?.(finding);
  };
  return {
    onFinding,
    onFalse(response: InvalidResponse): void {
      const { reason, upstream } = response;
      if (liars(upstream).say) onFinding({ kind: 'false-answer', upstream, reason });
      options.onInvalidResponse?.(response);
    },
    onOutvoted(node: ForwardUpstream, reason: string): void {
      node.noteInvalidResponse('quorum');
      if (liars(node.name).say) onFinding({ kind: 'outvoted', upstream: node.name, reason });
    },
  };
}

function countTogether(nodes: readonly ForwardUpstream[], method: string): number {
  return nodes.reduce(
    (most, node) => (node.excluded ? most : Math.min(most, node.callsTogether(method))),
    MOST_TOGETHER,
  );
}

function describeNode(node: ForwardUpstream): ReturnType<Forwarder['status']>[number] {
  return {
    name: node.name,
    healthy: node.isHealthy(),
    head: node.head,
    latencyMs: node.latencyMs === null ? null : Math.round(node.latencyMs),
    inFlight: node.inFlight,
  };
}

/** Counts each time that the store cannot be used. */
function createAloneReport({ context, network }: ForwarderOptions): (error: unknown) => void {
  const alone = context.metrics.counter(
    'packhouse_tip_alone_total',
    'Times that the newest block could not be shared with other gateways: this one goes on alone for a second.',
    ['network'],
  );
  return (error) => {
    alone.inc({ network: network.id });
    context.logger.debug({ network: network.id, err: error }, 'newest block not shared: store unavailable');
  };
}

/** The highest block that so many upstreams have; null: unknown. */
function findSharedHead(nodes: readonly ForwardUpstream[], by: number): number | null {
  const heads = nodes.flatMap(({ excluded, head }) => (excluded || head === null ? [] : head));
  return heads.sort((a, b) => b - a)[by - 1] ?? null;
}

function max(numbers: readonly (number | null)[]): number | null {
  return numbers.reduce((highest, one) => (one !== null && one > (highest ?? -1) ? one : highest), null);
}
