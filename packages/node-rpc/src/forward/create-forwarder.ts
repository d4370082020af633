import type { Network } from '@packhouse/networks';
import { CallController, type Context } from '@packhouse/runtime';
import { createForwardMetrics } from '../upstream/metrics.js';
import { headNeeded, isEligible, tipOf, whyNotAsked } from './eligibility.js';
import {
  createForwardNode,
  createMethodTimes,
  type ForwardNode,
  OVERTAKEN,
  TIMED_OUT,
} from './forward-node.js';
import type { ForwardAnswer, Forwarder, ForwardRequest } from './forwarder.js';
import type { TryOutcome } from './judge-answer.js';
import { watchHeads } from './watch.js';

interface ForwarderOptions {
  network: Network;
  context: Context;
}

/** For a call that names no block, an upstream this many blocks behind the tip is asked after the others. */
const LAG_BLOCKS = 3;
/** A second upstream is asked if the first takes this multiple of the method's usual time, within the bounds. */
const HEDGE_FACTOR = 4;
const HEDGE_MIN_MS = 100;
const HEDGE_MAX_MS = 3_000;

/** Creates the pool of one network and starts to watch its heads. */
export function createForwarder({ network, context }: ForwarderOptions): Forwarder {
  const { clock } = context;
  const metrics = createForwardMetrics(context.metrics, network.id);
  const times = createMethodTimes();
  const nodes = network.upstreams.map((upstream) =>
    createForwardNode({ upstream, network, context, metrics, times }),
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
    const eligible = nodes.filter((node) => isEligible(node, needed));
    if (eligible.length > 1) eligible.sort((a, b) => rank(a) - rank(b) || cost(a) - cost(b));
    return { nodes: eligible, needed };
  };

  const pool: Pool = {
    afterMs: (method) => Math.min(HEDGE_MAX_MS, Math.max(HEDGE_MIN_MS, times.usual(method) * HEDGE_FACTOR)),
    begin(node) {
      if (node.excluded || rests(node)) return false;
      metrics.hedged(node.name);
      return true;
    },
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

/** The upstreams that may answer a call, best first. */
interface Line {
  nodes: readonly ForwardNode[];
  /** The head that the others lack; null: none. */
  needed: number | null;
}

/** What a race asks of the pool: mostly when a second upstream is asked beside a slow one. */
interface Pool {
  afterMs(method: string): number;
  /** Whether a second one may be asked; counts the request. */
  begin(node: ForwardNode): boolean;
  /** Why no other upstream was asked; undefined if there is none. */
  whyNoOther(needed: number | null): string | undefined;
}

/** Asks one upstream after another; once per call the next one already while one is slow. The first answer wins. */
async function race(
  { nodes, needed }: Line,
  request: ForwardRequest,
  tries: Set<CallController>,
  pool: Pool,
): Promise<ForwardAnswer> {
  const running = new Set<Promise<{ outcome: TryOutcome; mine: CallController }>>();
  let failure: Extract<TryOutcome, { kind: 'elsewhere' }> | undefined;
  let next = 0;
  let mayHedge = request.idempotent;
  let winner: CallController | undefined;
  const start = (): void => {
    const node = nodes[next++] as ForwardNode;
    const mine = new CallController();
    tries.add(mine);
    const attempt = node.tryOnce(request, mine).then((outcome) => {
      running.delete(attempt);
      return { outcome, mine };
    });
    attempt.catch(() => undefined);
    running.add(attempt);
  };
  try {
    for (;;) {
      if (running.size === 0) {
        const again = failure === undefined || request.idempotent || failure.unsent;
        if (next >= nodes.length || !again)
          return failed(failure, again ? pool.whyNoOther(needed) : undefined);
        start();
      }
      const hedgeMs = mayHedge && next < nodes.length ? pool.afterMs(request.method) : null;
      const first = await firstOf(running, hedgeMs);
      if (first === null) {
        mayHedge = false;
        if (pool.begin(nodes[next] as ForwardNode)) start();
        continue;
      }
      const { outcome, mine } = first;
      if (outcome.kind !== 'elsewhere') {
        winner = mine;
        return outcome;
      }
      failure = worse(failure, outcome);
    }
  } finally {
    // A streamed answer still has to end with the whole call.
    const several = tries.size > 1;
    for (const each of tries) {
      if (each === winner) continue;
      tries.delete(each);
      if (several) each.abort(OVERTAKEN);
    }
  }
}

/** An upstream's own error is preferred to the lack of an answer; else the last failure is returned. */
function worse(
  before: Extract<TryOutcome, { kind: 'elsewhere' }> | undefined,
  now: Extract<TryOutcome, { kind: 'elsewhere' }>,
): Extract<TryOutcome, { kind: 'elsewhere' }> {
  return before?.said !== undefined && now.said === undefined ? before : now;
}

function failed(
  failure: Extract<TryOutcome, { kind: 'elsewhere' }> | undefined,
  whyNoOther: string | undefined,
): ForwardAnswer {
  if (failure?.said !== undefined) return failure.said;
  const { reason, detail, retryAfterMs } = failure ?? {
    reason: 'unavailable',
    detail: 'no node can be asked',
  };
  return {
    kind: 'failed',
    // What could not be answered by others for want of a block may be answered soon.
    reason: whyNoOther === undefined ? reason : 'unavailable',
    detail: whyNoOther === undefined ? detail : `${detail}, and ${whyNoOther}`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** The first that settles, or null after `ms`. */
async function firstOf<T>(running: ReadonlySet<Promise<T>>, ms: number | null): Promise<T | null> {
  if (ms === null) {
    const [only] = running;
    return running.size === 1 ? (only as Promise<T>) : Promise.race(running);
  }
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  try {
    return await Promise.race([...running, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function* until<T>(source: AsyncIterable<T>, done: () => void): AsyncGenerator<T> {
  try {
    yield* source;
  } finally {
    done();
  }
}
