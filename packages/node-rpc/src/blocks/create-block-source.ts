import { setMaxListeners } from 'node:events';
import type { Network } from '@packhouse/networks';
import { type Context, openScope, PackhouseError, type Scope, untilAborted } from '@packhouse/runtime';
import { BatchUpstream } from '../calls/batch-upstream.js';
import { createByteBudget } from '../calls/byte-budget.js';
import type { CallContext } from '../calls/call.js';
import type { Capability, Mode } from '../calls/capabilities.js';
import type { NodeFinding } from '../heads/final-branches.js';
import { type BlockHeader, findHeaders } from '../heads/poll-head.js';
import { createPoolHead } from '../heads/pool-head.js';
import { createHeadSubscriptions } from '../heads/subscribe.js';
import { type Account, NOBODY as NO_ACCOUNT, type Spending } from '../spending/spending.js';
import { createUpstreamMetrics } from '../upstream/metrics.js';
import { type NodeReports, reportUpstreams } from '../upstream/node-reports.js';
import type { BlockSource, UpstreamStatus } from './block-source.js';
import { fetchOne } from './failover.js';
import { createReadAhead, fetchRange } from './fetch-range.js';
import { probeNodes } from './probe.js';

export interface BlockSourceOptions {
  network: Network;
  context: Context;
  /** A longer answer is streamed, or refused with an error. In bytes after decoding; default 64 MiB. */
  maxBodyBytes?: number;
  /** To the first byte of an answer, and between two. In milliseconds; default 30 s. */
  timeoutMs?: number;
  /** Bytes fetched ahead of the readers, over all ranges, now. Default 64 MiB. */
  maxInFlightBytes?: () => number;
  /** Calls to all upstreams together; more are refused with CALLS_SPENT. Default: no limit. */
  maxCalls?: number;
  /** How often a subscription to new heads is checked, in milliseconds; default 3 s. */
  checkMs?: number;
  /** Counts the requests; default: they are not counted. */
  spending?: Spending;
  /** Called with each reason not to believe what an upstream said before. */
  onFinding?: (finding: NodeFinding) => void;
  /** Reports the upstreams, and says which are cordoned; default: neither. */
  reports?: NodeReports;
}

const MEBIBYTE = 1_048_576;
/** V8 holds no string of 512 MiB: longer answers can only be streamed. */
const MAX_TEXT_BYTES = 256 * MEBIBYTE;
/** An upstream that failed a proof is asked last for this long. */
const DISTRUST_MS = 600_000;

/** Opens the upstreams of one network as a source of blocks; nothing is sent before the first call. */
export function createBlockSource(options: BlockSourceOptions): BlockSource {
  const { context, network } = options;
  const { clock } = context;
  const closing = new AbortController();
  // A listener for each call that is under way.
  setMaxListeners(0, closing.signal);
  const budget = createByteBudget(options.maxInFlightBytes ?? (() => 64 * MEBIBYTE));
  const ahead = createReadAhead();
  const fillers = new Set<() => void>();
  const nodes = createNodes(options, () => {
    for (const fill of fillers) fill();
  });
  const open = (signal?: AbortSignal): Scope => openScope(context.signal, closing.signal, signal);
  const scoped = <T>(signal: AbortSignal | undefined, work: (scope: Scope) => Promise<T>): Promise<T> =>
    workWithin(open(signal), work);
  const subscriptions = createHeadSubscriptions({ network, nodes, context, checkMs: options.checkMs });
  const unreport = reportUpstreams(options.reports, network.id, nodes, (node) =>
    describeAbilities(node, subscriptions.isDelivering(node.name)),
  );
  const nobody = (): Error => buildNoUpstreamError(network, nodes);
  const head = createPoolHead({ nodes, network, context, nobody, onFinding: options.onFinding });

  const headers = async (
    numbers: readonly number[],
    from: string | undefined,
    callContext: CallContext,
  ): Promise<(BlockHeader | null)[]> => {
    const found = await findHeaders(nodes, numbers, from, callContext);
    if (Array.isArray(found)) return found;
    throw found ?? nobody();
  };

  const getSource = (account: Account): BlockSource => ({
    as: getSource,
    probe: (request, signal) =>
      scoped(signal, (scope) => probeNodes(nodes, network, request, context, { scope })),
    head: (signal, anchor = null, { asksFinalized = true } = {}) =>
      scoped(signal, (scope) => head(scope, { anchor, asksFinalized })),
    headers: (numbers, { from, signal } = {}) =>
      numbers.length === 0
        ? Promise.resolve([])
        : scoped(signal, (scope) => headers(numbers, from, { scope, urgent: true, account })),
    fetchBlocks: (range, request, signal) => ({
      [Symbol.asyncIterator]: () =>
        fetchRange(range, request, {
          nodes,
          clock,
          network: network.id,
          budget,
          ahead,
          account,
          scope: open(signal),
          onRoom: (fill) => {
            fillers.add(fill);
            return () => fillers.delete(fill);
          },
        }),
    }),
    fetchBlock: (number, request, more = {}) =>
      scoped(more.signal, (scope) =>
        fetchOne(number, {
          nodes,
          clock,
          network: network.id,
          request,
          account,
          scope,
          avoid: more.avoid,
          patient: more.patient,
        }),
      ),
    blockHash: (number, signal) =>
      scoped(signal, async (scope) => {
        const [header] = await headers([number], undefined, { scope, urgent: true, account });
        return header?.hash ?? null;
      }),
    onHead: subscriptions.onHead,
    subscription: subscriptions.state,
    reportInvalidResponse: (upstream) => noteInvalidBlock(options, nodes, upstream),
    usualBatch: (upstream, bytes) => nodes.find(({ name }) => name === upstream)?.sizes.usual(bytes) ?? 1,
    status: () => nodes.map((node) => describeNode(node, subscriptions.isDelivering(node.name))),
    close: async () => {
      unreport();
      closing.abort(
        new PackhouseError({ code: 'NODE_UNREACHABLE', message: `The nodes of ${network.id} were closed.` }),
      );
      await Promise.all([subscriptions.close(), ...nodes.map((node) => node.http.destroy())]);
    },
  });
  return getSource(NO_ACCOUNT);
}

/** The upstreams of a source; `onRoom` is called when one of them allows more requests. */
function createNodes(options: BlockSourceOptions, onRoom: () => void): BatchUpstream[] {
  const { context, network } = options;
  const getMetrics = createUpstreamMetrics(context.metrics, network.id);
  let callsLeft = options.maxCalls ?? Number.POSITIVE_INFINITY;
  const mayCall = (calls: number): boolean => {
    if (calls > callsLeft) return false;
    callsLeft -= calls;
    return true;
  };
  const shared = {
    network,
    context,
    spending: options.spending,
    maxBodyBytes: Math.min(options.maxBodyBytes ?? 64 * MEBIBYTE, MAX_TEXT_BYTES),
    timeoutMs: options.timeoutMs ?? 30_000,
    mayCall,
    onRoom,
  };
  return network.upstreams.map(
    (upstream) => new BatchUpstream({ ...shared, upstream, metrics: getMetrics(upstream.name) }),
  );
}

/** Works until the scope is aborted, and closes it. */
async function workWithin<T>(scope: Scope, work: (scope: Scope) => Promise<T>): Promise<T> {
  try {
    scope.signal.throwIfAborted();
    return await untilAborted(work(scope), scope.signal);
  } finally {
    scope.close();
  }
}

function noteInvalidBlock(
  { context, network }: BlockSourceOptions,
  nodes: readonly BatchUpstream[],
  upstream: string,
): void {
  const node = nodes.find(({ name }) => name === upstream);
  if (node === undefined) return;
  node.noteInvalidResponse('block');
  node.distrust(DISTRUST_MS);
  const facts = { network: network.id, upstream };
  context.logger.warn(facts, 'upstream failed a proof that another one passed: asked last');
}

function describeNode(node: BatchUpstream, subscribed: boolean | null): UpstreamStatus {
  const { finalizedTag, receipts, traces } = node.capabilities;
  return {
    name: node.name,
    client: node.client,
    healthy: node.isHealthy(),
    subscribed,
    head: node.head,
    latencyMs: node.latencyMs === null ? null : Math.round(node.latencyMs),
    errors: node.errors,
    requests: node.requests,
    capabilities: { receipts: getConfirmed(receipts), traces: getConfirmed(traces), finalizedTag },
  };
}

/** What the source knows of a node, for its report. */
function describeAbilities(node: BatchUpstream, subscribed: boolean | null) {
  const { finalizedTag, receipts, traces } = node.capabilities;
  const modes = { receipts, traces };
  const flags = { 'the finalized tag': finalizedTag, 'new heads over WebSocket': subscribed };
  const select = (is: boolean): string[] =>
    Object.entries(flags).flatMap(([name, value]) => (value === is ? name : []));
  const missing = Object.entries(modes).flatMap(([kind, { mode }]) => (mode === null ? kind : []));
  return {
    client: node.client,
    inFlight: node.limit.load,
    maxInFlight: node.limit.limit,
    capabilities: [getConfirmed(receipts) ?? [], getConfirmed(traces) ?? [], select(true)].flat(),
    missingCapabilities: [...missing, ...select(false)],
  };
}

/** The name of the way that works; null while unknown. */
function getConfirmed({ confirmed, mode }: Capability<Mode>): string | null {
  return confirmed ? (mode?.name ?? null) : null;
}

function buildNoUpstreamError(network: Network, nodes: readonly BatchUpstream[]): PackhouseError {
  const exclusion = nodes.find((node) => node.exclusion !== null)?.exclusion;
  if (exclusion) return exclusion;
  return new PackhouseError({
    code: 'NODE_UNREACHABLE',
    message: `No upstream of ${network.id} can be asked.`,
    hint: 'Name one in the networks file, or give --rpc.',
  });
}
