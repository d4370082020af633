import type { Network } from '@packhouse/networks';
import { type Context, PackhouseError } from '@packhouse/runtime';
import { askHead, type NodeHead, readHeader } from './ask-head.js';
import type { BlockSource, ChainHead, FailedBlock, FetchedBlock, UpstreamStatus } from './block-source.js';
import { createByteBudget } from './byte-budget.js';
import { chooseNode } from './choose-node.js';
import { fetchRange } from './fetch-blocks.js';
import { fetchWithFailover } from './fetch-with-failover.js';
import { createNodeMetrics } from './node-metrics.js';
import { probeNodes } from './probe-nodes.js';
import { openScope, type Scope, untilAborted } from './scope.js';
import { createUpstreamNode, type UpstreamNode } from './upstream-node.js';

export interface BlockSourceOptions {
  network: Network;
  context: Context;
  /** A longer answer is streamed, or refused by name. In bytes after decoding; default 64 MiB. */
  maxBodyBytes?: number;
  /** To the first byte of an answer, and between two. In milliseconds; default 30 s. */
  timeoutMs?: number;
  /** Bytes fetched ahead of the readers, over all ranges. Default 64 MiB. */
  maxInFlightBytes?: number;
}

const MEBIBYTE = 1_048_576;
/** V8 holds no text of 512 MiB: what is longer can only be streamed. */
const LONGEST_TEXT_BYTES = 256 * MEBIBYTE;
/** An upstream that failed a proof is asked last for this long. */
const DISTRUST_MS = 600_000;
/** What the other upstreams get to tell their head once the first has. */
const HEAD_GRACE_MS = 1_000;
const NO_WISH = { receipts: false, traces: false };
const NOBODY: ReadonlySet<string> = new Set();

/** Opens the upstreams of one network as a source of blocks; nothing is asked before the first call. */
export function createBlockSource(options: BlockSourceOptions): BlockSource {
  const { context, network } = options;
  const { clock } = context;
  const metrics = createNodeMetrics(context.metrics, network.id);
  const closing = new AbortController();
  const budget = createByteBudget(options.maxInFlightBytes ?? 64 * MEBIBYTE);
  const lookers = new Set<() => void>();
  const nodes = network.upstreams.map((upstream) =>
    createUpstreamNode({
      upstream,
      network,
      context,
      metrics,
      maxBodyBytes: Math.min(options.maxBodyBytes ?? 64 * MEBIBYTE, LONGEST_TEXT_BYTES),
      timeoutMs: options.timeoutMs ?? 30_000,
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

  const head = async (scope: Scope): Promise<ChainHead> => {
    const able = nodes.filter((node) => node.excluded === null);
    // Resting upstreams are left in peace, unless there is no other.
    const awake = able.filter((node) => node.waitMs() === 0);
    const found: { node: UpstreamNode; head: NodeHead }[] = [];
    const errors: Error[] = [];
    const asked = (awake.length > 0 ? awake : able).map(async (node) => {
      const answer = await askHead(node, network.finality.tag, { scope });
      if ('action' in answer) errors.push(answer.error);
      else found.push({ node, head: answer });
    });
    await untilFirstAndGrace(asked, () => found.length > 0, clock, scope.signal);
    const best = found.reduce<(typeof found)[number] | null>(
      (high, one) => (high === null || one.head.number > high.head.number ? one : high),
      null,
    );
    if (best === null) throw errors[0] ?? able[0]?.lastFault?.error ?? noUpstream(network, nodes);
    // The one behind is not a reorganisation: the highest counts, and so does the highest that anybody calls final.
    const tagged = found.flatMap((one) => (one.head.finalized === null ? [] : [one.head.finalized]));
    const finalized =
      tagged.length > 0
        ? Math.min(Math.max(...tagged), best.head.number)
        : Math.max(-1, best.head.number - network.finality.depth);
    const { hash, number, parentHash } = best.head;
    return { number, hash, parentHash, finalized, upstream: best.node.name };
  };

  const blockHash = async (number: number, scope: Scope): Promise<string | null> => {
    const exhausted = new Set<string>();
    let error: Error | null = null;
    let absent = false;
    for (;;) {
      const node = chooseNode(nodes, { block: number, wish: NO_WISH, avoid: NOBODY, exhausted }, clock);
      if (node === null) break;
      exhausted.add(node.name);
      const [answer] = await node.callAll(
        [
          {
            method: 'eth_getBlockByNumber',
            params: [`0x${number.toString(16)}`, false],
            block: number,
            weight: 1,
            learnedAs: 'head',
          },
        ],
        { scope },
      );
      if (answer?.ok === true) {
        const header = readHeader(answer.value);
        if (header !== null && header.number === number) return header.hash;
        absent = true;
      } else if (answer !== undefined) error = answer.fault.error;
    }
    if (absent) return null;
    throw error ?? noUpstream(network, nodes);
  };

  return {
    probe: (wish, signal) => scoped(signal, (scope) => probeNodes(nodes, network, wish, context, { scope })),
    head: (signal) => scoped(signal, head),
    fetchBlocks: (range, wish, signal) => ({
      [Symbol.asyncIterator]: () =>
        fetchRange(range, wish, {
          nodes,
          clock,
          network: network.id,
          budget,
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
          scope,
          ...(more.avoid === undefined ? {} : { avoid: more.avoid }),
          settle: (block) => settled.push(block),
        });
        const [block] = settled as [FetchedBlock | FailedBlock];
        if ('error' in block) throw block.error;
        return block;
      }),
    blockHash: (number, signal) => scoped(signal, (scope) => blockHash(number, scope)),
    reportLie: (upstream) => {
      const node = nodes.find((candidate) => candidate.name === upstream);
      if (node === undefined) return;
      node.lies += 1;
      node.distrustedUntil = clock.now() + DISTRUST_MS;
      metrics.lie(upstream);
      context.logger.warn(
        { network: network.id, upstream },
        'data of this node failed a proof: asking it last',
      );
    },
    status: () => nodes.map((node) => describeNode(node, clock.now())),
    close: async () => {
      closing.abort(
        new PackhouseError({ code: 'NODE_UNREACHABLE', message: `The nodes of ${network.id} were let go.` }),
      );
      await Promise.all(nodes.map((node) => node.destroy()));
    },
  };
}

function describeNode(node: UpstreamNode, now: number): UpstreamStatus {
  const { finalizedTag, receipts, traces } = node.capabilities;
  return {
    name: node.name,
    client: node.client,
    healthy: node.excluded === null && node.circuit.state === 'closed' && node.distrustedUntil <= now,
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

function noUpstream(network: Network, nodes: readonly UpstreamNode[]): PackhouseError {
  const excluded = nodes.find((node) => node.excluded !== null)?.excluded;
  if (excluded !== null && excluded !== undefined) return excluded;
  return new PackhouseError({
    code: 'NODE_UNREACHABLE',
    message: `No upstream of ${network.id} can be asked.`,
    hint: 'Name one in the networks file, or give --rpc.',
  });
}

/** Waits for all, but no longer than a grace period once one has been `enough`. */
async function untilFirstAndGrace(
  work: readonly Promise<void>[],
  enough: () => boolean,
  clock: Context['clock'],
  signal: AbortSignal,
): Promise<void> {
  const all = Promise.all(work);
  const first = new Promise<void>((resolve) => {
    for (const one of work) {
      one.then(
        () => enough() && resolve(),
        () => undefined,
      );
    }
  });
  await Promise.race([all, first]);
  if (!enough() || work.length === 1) return;
  const late = new AbortController();
  const stop = (): void => late.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    await Promise.race([all, clock.sleep(HEAD_GRACE_MS, late.signal).catch(() => undefined)]);
  } finally {
    late.abort();
    signal.removeEventListener('abort', stop);
  }
}
