import { setMaxListeners } from 'node:events';
import type { Network } from '@packhouse/networks';
import { type Context, openScope, PackhouseError, type Scope, untilAborted } from '@packhouse/runtime';
import { createByteBudget } from '../calls/byte-budget.js';
import { createUpstreamNode, type UpstreamNode } from '../calls/node.js';
import type { BlockHeader } from '../heads/ask-head.js';
import { askHeaders } from '../heads/ask-head.js';
import { chooseNode, isHealthy } from '../heads/choose-node.js';
import { createPoolHead } from '../heads/pool-head.js';
import { createHeadSubscriptions } from '../heads/subscribe.js';
import { type Account, NOBODY as NO_ACCOUNT, type Spending } from '../spending/spending.js';
import { createCallMetrics } from '../upstream/metrics.js';
import type { NodeReports, UpstreamReport } from '../upstream/node-reports.js';
import type { BlockSource, FailedBlock, FetchedBlock, UpstreamStatus } from './block-source.js';
import { fetchWithFailover } from './failover.js';
import { fetchRange } from './fetch-range.js';
import { probeNodes } from './probe.js';

export interface BlockSourceOptions {
  network: Network;
  context: Context;
  /** A longer answer is streamed, or refused with an error. In bytes after decoding; default 64 MiB. */
  maxBodyBytes?: number;
  /** To the first byte of an answer, and between two. In milliseconds; default 30 s. */
  timeoutMs?: number;
  /** Bytes fetched ahead of the readers, over all ranges. Default 64 MiB. */
  maxInFlightBytes?: number;
  /** Calls to all upstreams together; more are refused with CALLS_SPENT. Default: no limit. */
  maxCalls?: number;
  /** How often a subscription to new heads is checked, in milliseconds; default 3 s. */
  checkMs?: number;
  /** Counts the requests; default: they are not counted. */
  spending?: Spending;
  /** Told what is known of the upstreams, and tells which are cordoned; default: nobody. */
  reports?: NodeReports;
}

const MEBIBYTE = 1_048_576;
/** V8 holds no string of 512 MiB: longer answers can only be streamed. */
const LONGEST_TEXT_BYTES = 256 * MEBIBYTE;
/** An upstream that failed a proof is asked last for this long. */
const DISTRUST_MS = 600_000;
const NO_WISH = { receipts: false, traces: false };
const NOBODY: ReadonlySet<string> = new Set();

/** Opens the upstreams of one network as a source of blocks; nothing is sent before the first call. */
export function createBlockSource(options: BlockSourceOptions): BlockSource {
  const { context, network } = options;
  const { clock } = context;
  const metrics = createCallMetrics(context.metrics, network.id);
  const closing = new AbortController();
  // A listener for each call that is under way.
  setMaxListeners(0, closing.signal);
  const budget = createByteBudget(options.maxInFlightBytes ?? 64 * MEBIBYTE);
  const lookers = new Set<() => void>();
  let callsLeft = options.maxCalls ?? Number.POSITIVE_INFINITY;
  const mayCall = (calls: number): boolean => {
    if (calls > callsLeft) return false;
    callsLeft -= calls;
    return true;
  };
  const nodes = network.upstreams.map((upstream) =>
    createUpstreamNode({
      upstream,
      network,
      context,
      metrics,
      spending: options.spending,
      maxBodyBytes: Math.min(options.maxBodyBytes ?? 64 * MEBIBYTE, LONGEST_TEXT_BYTES),
      timeoutMs: options.timeoutMs ?? 30_000,
      mayCall,
      onRoom: () => {
        for (const look of lookers) look();
      },
    }),
  );
  const open = (signal?: AbortSignal): Scope => openScope(context.signal, closing.signal, signal);
  const scoped = async <T>(
    signal: AbortSignal | undefined,
    work: (scope: Scope) => Promise<T>,
  ): Promise<T> => {
    const scope = open(signal);
    try {
      scope.signal.throwIfAborted();
      return await untilAborted(work(scope), scope.signal);
    } finally {
      scope.close();
    }
  };

  const subscriptions = createHeadSubscriptions({
    network,
    nodes,
    context,
    metrics,
    checkMs: options.checkMs,
  });
  const unreport = nodes.map((node, at) =>
    options.reports?.add({
      ...{ network: network.id, upstream: node.name, provider: network.upstreams[at]?.provider ?? '' },
      report: () => reportOf(node, clock.elapsed(), subscriptions.isDelivering(node.name)),
      cordon: node.cordon,
    }),
  );
  const nobody = (): Error => noUpstream(network, nodes);
  const head = createPoolHead({ nodes, network, context, metrics, nobody });

  /** From the preferred upstream first, else from any that answers. */
  const headers = async (
    numbers: readonly number[],
    from: string | undefined,
    scope: Scope,
    account: Account,
  ): Promise<(BlockHeader | null)[]> => {
    const block = Math.max(...numbers);
    const exhausted = new Set<string>();
    let error: Error | null = null;
    let absent: (BlockHeader | null)[] | null = null;
    for (;;) {
      const named = nodes.find(
        (node) => node.name === from && node.excluded === null && !exhausted.has(node.name),
      );
      const node = named ?? chooseNode(nodes, { block, wish: NO_WISH, avoid: NOBODY, exhausted }, clock);
      if (node === null) break;
      exhausted.add(node.name);
      const found = await askHeaders(node, numbers, { scope, urgent: true, account });
      if ('action' in found) error = found.error;
      else if (found.every((header) => header !== null)) return found;
      else absent ??= found;
    }
    if (absent !== null) return absent;
    throw error ?? nobody();
  };

  const sourceOf = (account: Account): BlockSource => ({
    as: sourceOf,
    probe: (wish, signal) => scoped(signal, (scope) => probeNodes(nodes, network, wish, context, { scope })),
    head: (signal, anchor = null) => scoped(signal, (scope) => head(scope, anchor)),
    headers: (numbers, { from, signal } = {}) =>
      numbers.length === 0
        ? Promise.resolve([])
        : scoped(signal, (scope) => headers(numbers, from, scope, account)),
    fetchBlocks: (range, wish, signal) => ({
      [Symbol.asyncIterator]: () =>
        fetchRange(range, wish, {
          nodes,
          clock,
          network: network.id,
          budget,
          account,
          scope: open(signal),
          onRoom: (look) => {
            lookers.add(look);
            return () => lookers.delete(look);
          },
        }),
    }),
    fetchBlock: (number, wish, more = {}) =>
      scoped(more.signal, async (scope) => {
        const settled: (FetchedBlock | FailedBlock)[] = [];
        await fetchWithFailover([number], {
          nodes,
          clock,
          network: network.id,
          wish,
          account,
          scope,
          ...(more.avoid === undefined ? {} : { avoid: more.avoid }),
          ...(more.patient === undefined ? {} : { patient: more.patient }),
          settle: (block) => settled.push(block),
        });
        const [block] = settled as [FetchedBlock | FailedBlock];
        if ('error' in block) throw block.error;
        return block;
      }),
    blockHash: (number, signal) =>
      scoped(signal, async (scope) => (await headers([number], undefined, scope, account))[0]?.hash ?? null),
    onHead: subscriptions.onHead,
    subscription: subscriptions.state,
    reportLie: (upstream) => {
      const node = nodes.find((candidate) => candidate.name === upstream);
      if (node === undefined) return;
      node.lies += 1;
      node.distrustedUntil = clock.elapsed() + DISTRUST_MS;
      metrics.lie(upstream);
      context.logger.warn(
        { network: network.id, upstream },
        'data of this node failed a proof that another one passed: asking it last',
      );
    },
    usualBatch: (upstream, bytes) => nodes.find(({ name }) => name === upstream)?.sizes.usual(bytes) ?? 1,
    status: () =>
      nodes.map((node) => describeNode(node, clock.elapsed(), subscriptions.isDelivering(node.name))),
    close: async () => {
      for (const end of unreport) end?.();
      closing.abort(
        new PackhouseError({ code: 'NODE_UNREACHABLE', message: `The nodes of ${network.id} were let go.` }),
      );
      await Promise.all([subscriptions.close(), ...nodes.map((node) => node.http.destroy())]);
    },
  });
  return sourceOf(NO_ACCOUNT);
}

function describeNode(node: UpstreamNode, now: number, subscribed: boolean | null): UpstreamStatus {
  const { finalizedTag, receipts, traces } = node.capabilities;
  return {
    name: node.name,
    client: node.client,
    healthy: isHealthy(node, now),
    subscribed,
    head: node.head,
    latencyMs: node.latencyMs === null ? null : Math.round(node.latencyMs),
    errors: node.errors,
    requests: node.requests,
    capabilities: {
      receipts: receipts.confirmed ? (receipts.mode?.name ?? null) : null,
      traces: traces.confirmed ? (traces.mode?.name ?? null) : null,
      finalizedTag,
    },
  };
}

function reportOf(node: UpstreamNode, now: number, subscribed: boolean | null): UpstreamReport {
  const { finalizedTag, receipts, traces } = node.capabilities;
  const offered: [string, string | null, boolean][] = [
    ['receipts', receipts.confirmed ? (receipts.mode?.name ?? null) : null, receipts.mode === null],
    ['traces', traces.confirmed ? (traces.mode?.name ?? null) : null, traces.mode === null],
    ['the finalized tag', finalizedTag === true ? 'the finalized tag' : null, finalizedTag === false],
    [
      'new heads over WebSocket',
      subscribed === true ? 'new heads over WebSocket' : null,
      subscribed === false,
    ],
  ];
  return {
    state: stateOf(node, now),
    ...node.recent.look(),
    client: node.client,
    head: node.head,
    inFlight: node.limit.load,
    maxInFlight: node.limit.limit,
    lies: node.lies,
    keptBack: node.spending.refusal('backfill')?.error.message ?? null,
    lastError: node.lastFault?.error.message ?? node.lastError,
    can: offered.flatMap(([, can]) => can ?? []),
    lacks: offered.flatMap(([what, , isMissing]) => (isMissing ? what : [])),
  };
}

function stateOf(node: UpstreamNode, now: number): UpstreamReport['state'] {
  if (node.cordoned) return 'cordoned';
  if (node.excluded !== null) return 'another-chain';
  if (node.offChain) return 'another-branch';
  if (node.distrustedUntil > now) return 'distrusted';
  return node.circuit.state === 'closed' && node.pause.waitMs() === 0 ? 'ok' : 'resting';
}

function noUpstream(network: Network, nodes: readonly UpstreamNode[]): PackhouseError {
  const excluded = nodes.find((node) => node.excluded !== null)?.excluded;
  if (excluded !== null && excluded !== undefined) return excluded;
  return new PackhouseError({
    code: 'NODE_UNREACHABLE',
    message: `No upstream of ${network.id} can be asked.`,
    hint: 'Name one in the networks file, or give --rpc.',
  });
}
