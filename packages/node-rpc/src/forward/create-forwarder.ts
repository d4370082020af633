import type { Network } from '@packhouse/networks';
import type { CallController, Context } from '@packhouse/runtime';
import { createForwardMetrics } from '../upstream/metrics.js';
import { broadcast } from './broadcast.js';
import { headNeeded, isEligible, tipOf, whyNotAsked } from './eligibility.js';
import { createForwardNode, createMethodTimes, type ForwardNode, TIMED_OUT } from './forward-node.js';
import type { FalseAnswer, Forwarder, ForwardRequest } from './forwarder.js';
import { type Line, type Pool, race } from './race.js';
import { createToldHead, headIn, isNull } from './told-head.js';
import { watchHeads } from './watch.js';

interface ForwarderOptions {
  network: Network;
  context: Context;
  /** Called for each answer that a request's `prove` finds false. */
  onFalseAnswer?: (answer: FalseAnswer) => void;
}

/** For a call that names no block, an upstream this many blocks behind the tip is asked after the others. */
const LAG_BLOCKS = 3;
/** A second upstream is asked if the first takes this multiple of the method's usual time, within the bounds. */
const HEDGE_FACTOR = 4;
const HEDGE_MIN_MS = 100;
const HEDGE_MAX_MS = 3_000;

/** Creates the pool of one network and starts to watch its heads. */
export function createForwarder({
  network,
  context,
  onFalseAnswer = () => undefined,
}: ForwarderOptions): Forwarder {
  const { clock } = context;
  const metrics = createForwardMetrics(context.metrics, network.id);
  const times = createMethodTimes();
  const nodes = network.upstreams.map((upstream) =>
    createForwardNode({ upstream, network, context, metrics, times, onFalseAnswer }),
  );
  const closing = new AbortController();
  const watching = watchHeads({ network, nodes, context, metrics, signal: closing.signal });
  const rests = (node: ForwardNode): boolean => node.circuit.waitMs() > 0 || node.pause.waitMs() > 0;

  const alone: Line = { nodes, needed: null };

  const order = (request: ForwardRequest): Line => {
    if (nodes.length === 1 && !(nodes[0] as ForwardNode).excluded) return alone;
    const tip = tipOf(nodes, clock);
    const needed = headNeeded(request.block, tip);
    const rank = (node: ForwardNode): number =>
      // An upstream that rests is asked last rather than never.
      (rests(node) ? 1_000 : 0) +
      (node.head !== null && tip !== null && node.head < tip - LAG_BLOCKS ? 500 : 0) +
      node.priority;
    const cost = (node: ForwardNode): number => (node.latencyMs ?? 1) * (node.inFlight + 1);
    const eligible = nodes.filter((node) => isEligible(node, needed) && !node.history.lacks(request));
    let undeclared = false;
    if (eligible.length === 0) {
      // What was learnt may be wrong by now; what is declared is not.
      const reaching = nodes.filter((node) => isEligible(node, needed));
      eligible.push(...reaching.filter((node) => node.history.lacks(request) === 'learnt'));
      undeclared = reaching.length > 0 && eligible.length === 0;
    }
    if (eligible.length > 1) eligible.sort((a, b) => rank(a) - rank(b) || cost(a) - cost(b));
    return { nodes: eligible, needed, undeclared };
  };

  const told = createToldHead(clock);
  const pool: Pool = {
    afterMs: (method) => Math.min(HEDGE_MAX_MS, Math.max(HEDGE_MIN_MS, times.usual(method) * HEDGE_FACTOR)),
    begin(node) {
      if (node.excluded || rests(node)) return false;
      metrics.hedged(node.name);
      return true;
    },
    mayAsk: (node, request) =>
      !rests(node) &&
      (request.asks !== 'whether' ||
        isEligible(node, headNeeded(request.block ?? 'tip', tipOf(nodes, clock)))),
    weigh: (request, result, node) => {
      if (request.asks === 'whether') {
        if (!isNull(result)) return 'sure';
        return nodes.length === 1 || isEligible(node, headNeeded(request.block ?? 'tip', tipOf(nodes, clock)))
          ? 'open'
          : 'unfit';
      }
      if (request.asks !== 'head' || nodes.length === 1) return 'sure';
      const head = headIn(result);
      return head === null || told.accept(head, tipOf(nodes, clock)) ? 'sure' : 'open';
    },
    agreed: (result) => told.reset(headIn(result)),
    whyNoOther: (needed) => whyNotAsked(nodes, needed),
  };

  return {
    async call(request) {
      // One controller per try, none for the call.
      const tries = new Set<CallController>();
      const stop = (reason: unknown): void => {
        for (const each of tries) each.abort(reason);
      };
      const giveUp = (): void => stop(request.signal.reason);
      if (request.signal.aborted) throw request.signal.reason;
      request.signal.addEventListener('abort', giveUp, { once: true });
      let late = false;
      const timer = setTimeout(() => {
        late = true;
        stop(TIMED_OUT);
      }, request.timeoutMs);
      let streaming = false;
      const done = (): void => {
        clearTimeout(timer);
        request.signal.removeEventListener('abort', giveUp);
      };
      try {
        const answer = await race(order(request), request, tries, pool);
        if (answer.kind === 'result' && answer.body.rest !== null) {
          streaming = true;
          return { ...answer, body: { ...answer.body, rest: until(answer.body.rest, done) } };
        }
        return answer;
      } catch (error) {
        if (request.signal.aborted) throw request.signal.reason;
        if (!late) throw error;
        return {
          kind: 'failed',
          reason: 'timeout',
          detail: `no node answered within ${request.timeoutMs} ms`,
        };
      } finally {
        if (!streaming) done();
      }
    },
    broadcast: (request, most) => broadcast(order(request).nodes, request, most, closing.signal),
    head: () => tipOf(nodes, clock),
    finalized: () =>
      nodes.reduce<number | null>((highest, { finalized }) => {
        return finalized === null || (highest !== null && highest >= finalized) ? highest : finalized;
      }, null),
    status: () =>
      nodes.map((node) => ({
        name: node.name,
        healthy: !node.excluded && node.circuit.state === 'closed',
        head: node.head,
        latencyMs: node.latencyMs === null ? null : Math.round(node.latencyMs),
        inFlight: node.inFlight,
      })),
    async close() {
      closing.abort(new Error('the gateway closes'));
      await Promise.all([watching, ...nodes.map((node) => node.http.destroy())]);
    },
  };
}

async function* until<T>(source: AsyncIterable<T>, done: () => void): AsyncGenerator<T> {
  try {
    yield* source;
  } finally {
    done();
  }
}
