import type { Network } from '@packhouse/networks';
import type { CallController, Context } from '@packhouse/runtime';
import type { Spending } from '../spending/spending.js';
import { createForwardMetrics } from '../upstream/metrics.js';
import type { NodeReports, UpstreamReport } from '../upstream/node-reports.js';
import { broadcast } from './broadcast.js';
import { headNeeded, isEligible, tipOf, whyNotAsked } from './eligibility.js';
import { createForwardNode, createMethodTimes, type ForwardNode, TIMED_OUT } from './forward-node.js';
import type { FalseAnswer, ForwardAnswer, Forwarder, ForwardRequest, ResultBody } from './forwarder.js';
import { createPinned } from './pinned.js';
import { type Line, type Pool, race } from './race.js';
import { createTold, type SharedTips } from './told.js';
import { FAR_BLOCKS, watchHeads } from './watch.js';

interface ForwarderOptions {
  network: Network;
  context: Context;
  /** Called for each answer that a request's `prove` finds false. */
  onFalseAnswer?: (answer: FalseAnswer) => void;
  /** The newest numbers that all gateways told; default: those of this process alone. */
  tips?: SharedTips;
  /** Counts the requests; default: they are not counted. */
  spending?: Spending | undefined;
  /** Told what is known of the upstreams, and tells which are cordoned; default: nobody. */
  reports?: NodeReports | undefined;
}

/** For a call that names no block, an upstream this many blocks behind the tip, or without a head, is asked after the others. */
const LAG_BLOCKS = 3;
/** A second upstream is asked if the first takes this multiple of the method's usual time, within the bounds. */
const HEDGE_FACTOR = 4;
const HEDGE_MIN_MS = 100;
const HEDGE_MAX_MS = 3_000;
/** How long a call waits at most for a node to reach the block that another one was seen to have. */
const ARRIVAL_MS = 1_500;
/** Meanwhile the nodes are asked for their heads this often. */
const LOOK_EVERY_MS = 100;

/** Creates the pool of one network and starts to watch its heads. */
export function createForwarder({
  network,
  context,
  tips,
  spending,
  reports,
  onFalseAnswer = () => undefined,
}: ForwarderOptions): Forwarder {
  const { clock } = context;
  const metrics = createForwardMetrics(context.metrics, network.id);
  const times = createMethodTimes();
  const waiting = new WeakSet<ForwardRequest>();
  const nodes = network.upstreams.map((upstream) =>
    createForwardNode({ upstream, network, context, metrics, times, spending, onFalseAnswer, waiting }),
  );
  const unreport = nodes.map((node, at) => {
    const { maxInFlight = 0, provider = '' } = network.upstreams[at] ?? {};
    return reports?.add({
      ...{ network: network.id, upstream: node.name, provider },
      report: () => reportOf(node, maxInFlight),
      cordon: node.cordon,
    });
  });
  const closing = new AbortController();
  /** A single node of a single gateway is passed on as it is. */
  const lone = nodes.length === 1 && tips === undefined;
  const told = createTold({
    ...{ clock, network: `${network.id} ${network.chainId}`, shared: tips },
    onAlone: (error) => {
      metrics.alone();
      context.logger.debug({ network: network.id, err: error }, 'the newest block could not be shared');
    },
  });
  const arrivals = new Set<() => void>();
  const watching = watchHeads({
    ...{ network, nodes, context, metrics, signal: closing.signal },
    told: () => told.known('latest'),
    heard(tag, number) {
      if (!lone) {
        void told.raise(tag, number);
        void told.ready();
      }
      for (const arrived of [...arrivals]) arrived();
    },
  });
  const newestKnown = (): number | null => {
    const [seen, shared] = [tipOf(nodes, clock), lone ? null : told.known('latest')];
    return seen === null || (shared !== null && shared > seen) ? shared : seen;
  };
  const rests = (node: ForwardNode): boolean =>
    node.circuit.waitMs() > 0 || node.pause.waitMs() > 0 || node.spending.refusal('urgent') !== null;

  const alone: Line = { nodes, needed: null, tip: null };

  const order = (request: ForwardRequest): Line => {
    if (lone && !(nodes[0] as ForwardNode).excluded) return alone;
    const tip = newestKnown();
    const needed = headNeeded(request.block, tip);
    const rank = (node: ForwardNode): number =>
      // An upstream that rests is asked last rather than never.
      (rests(node) ? 1_000 : 0) +
      (tip !== null && (node.head ?? -1) < tip - LAG_BLOCKS ? 500 : 0) +
      node.priority;
    const cost = (node: ForwardNode): number => (node.latencyMs ?? 1) * (node.inFlight + 1);
    const eligible = nodes.filter((node) => isEligible(node, needed) && !node.history.lacks(request));
    let undeclared = false;
    if (eligible.length === 0) {
      // What was learnt may be wrong by now; what is declared is not.
      const reaching = nodes.filter((node) => isEligible(node, needed));
      eligible.push(...reaching.filter((node) => node.history.lacks(request) === 'learnt'));
      undeclared = reaching.length > 0 && eligible.length === 0;
      // Any may have the next one by now, and what is answered is not below the newest one.
      if (reaching.length === 0 && request.asks === 'head') {
        eligible.push(...nodes.filter((node) => isEligible(node, null)));
      }
    }
    if (eligible.length > 1) eligible.sort((a, b) => rank(a) - rank(b) || cost(a) - cost(b));
    return { nodes: eligible, needed, tip, undeclared };
  };

  /** The nodes to ask beside those `tried`; if a block that was told is on none of them yet, they are looked at until it is. */
  const lineFor = async (request: ForwardRequest, tried: readonly ForwardNode[]): Promise<Line> => {
    const waitMs = Math.min(ARRIVAL_MS, request.timeoutMs / 2);
    const startedAt = performance.now();
    for (;;) {
      const all = order(request);
      const line =
        tried.length === 0 ? all : { ...all, nodes: all.nodes.filter((node) => !tried.includes(node)) };
      const waited = performance.now() - startedAt;
      if (line.nodes.length > 0 || line.needed === null || line.undeclared === true) return line;
      if (waited >= waitMs || request.signal.aborted) return line;
      // The preferred ones first: others may cost money.
      const able = nodes.filter((node) => !node.excluded && !rests(node) && !tried.includes(node));
      if (able.length === 0 && tried.length > 0) return line;
      const first = Math.min(...able.map(({ priority }) => priority));
      watching.look(2 * waited < waitMs ? able.filter(({ priority }) => priority === first) : nodes);
      await arrival(Math.min(LOOK_EVERY_MS, waitMs - waited));
    }
  };
  const arrival = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        arrivals.delete(end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      arrivals.add(end);
    });

  const reaches = (node: ForwardNode, { block }: ForwardRequest, tip: number | null): boolean =>
    isEligible(node, headNeeded(block ?? 'tip', tip));
  /** Calls that a node answered from before the head that it was known to have. */
  const fallen = new WeakSet<ForwardRequest>();
  const pool: Pool = {
    afterMs: (method) => Math.min(HEDGE_MAX_MS, Math.max(HEDGE_MIN_MS, times.usual(method) * HEDGE_FACTOR)),
    begin(node) {
      if (node.excluded || rests(node)) return false;
      metrics.hedged(node.name);
      return true;
    },
    mayAsk: (node, request, tip) =>
      !rests(node) && (request.asks !== 'whether' || reaches(node, request, tip)),
    weigh: (request, result, node, tip) => {
      if (lone) return request.asks === 'whether' && isNull(result) ? 'open' : 'sure';
      const newest = numberIn(request, result);
      if (newest !== null && tip !== null) {
        if (newest > tip + FAR_BLOCKS) return 'far';
        if (newest < tip && request.asks !== 'head') {
          node.sawHead(newest, performance.now());
          fallen.add(request);
          return 'unfit';
        }
      }
      // Of a block named by its hash a node that is behind may say that it has no logs, rather than that it is unknown.
      if (request.asks === 'logs' && request.block === undefined && isEmptyList(result)) {
        return reaches(node, request, tip) ? 'sure' : 'unfit';
      }
      if (request.asks !== 'whether' || !isNull(result)) return 'sure';
      return reaches(node, request, tip) ? 'open' : 'unfit';
    },
    whyNoOther: (needed, asked) => whyNotAsked(nodes, needed, asked),
  };

  /** Before a client is told a number, all gateways can know it. */
  const telling = async (answer: Result, request: ForwardRequest, askedAt: number): Promise<Result> => {
    const number = numberIn(request, answer.body);
    if (lone || number === null) return answer;
    const node = nodes.find(({ name }) => name === answer.upstream);
    if (node !== undefined && number > (node.head ?? -1)) node.sawHead(number, askedAt);
    const newest = Math.max(number, newestKnown() ?? -1);
    await told.raise('latest', newest);
    if (request.asks !== 'head' || newest === number) return answer;
    return { ...answer, body: { bytes: Buffer.from(`"0x${newest.toString(16)}"`), rest: null } };
  };

  /** Whether the node of an empty list of logs has the blocks that it is about, after it answered. */
  const hasStill = async (answer: Result, request: ForwardRequest): Promise<boolean> => {
    if (lone || request.asks !== 'logs' || !isEmptyList(answer.body)) return true;
    const needed = headNeeded(request.block, newestKnown());
    if (needed === null || needed <= (finalized() ?? -1)) return true;
    const node = nodes.find(({ name }) => name === answer.upstream);
    if (node === undefined) return true;
    const head = await watching.lookAt(node);
    return head !== null && head >= needed;
  };

  const answer = async (request: ForwardRequest, tries: Set<CallController>): Promise<ForwardAnswer> => {
    const askedAt = performance.now();
    let failed: Failure | undefined;
    let tried: readonly ForwardNode[] = [];
    for (let again = 0; ; again++) {
      const line = await lineFor(request, tried);
      if (failed !== undefined && line.nodes.length === 0) return failed;
      const answered = await race(line, request, tries, pool);
      // A node has it again in a moment, or another one does.
      if (answered.kind === 'failed' && fallen.delete(request) && again < nodes.length) continue;
      if (answered.kind === 'failed' && failed === undefined && line.needed !== null && request.idempotent) {
        // One that did not have the block when it was looked at may have it by now.
        failed = answered;
        tried = line.nodes;
        continue;
      }
      if (answered.kind !== 'result') return answered;
      if (lone || request.asks === undefined) return answered;
      if (await hasStill(answered, request)) return telling(answered, request, askedAt);
      if (again === nodes.length) {
        const detail = `the node that answered may have lost block ${line.needed}`;
        return { kind: 'failed', reason: 'unavailable', detail };
      }
    }
  };
  const pinned = createPinned({
    network,
    nodes,
    told,
    clock,
    newestKnown,
    ask: (request) => forwarder.call(request),
  });
  const finalized = (): number | null =>
    nodes.reduce<number | null>((highest, { finalized }) => {
      return finalized === null || (highest !== null && highest >= finalized) ? highest : finalized;
    }, null);

  const forwarder: Forwarder = {
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
        const refreshing = watching.used();
        if (refreshing !== undefined) {
          await refreshing;
          if (late || request.signal.aborted) throw TIMED_OUT;
        }
        const joining = told.ready();
        if (joining !== undefined) {
          await joining;
          if (late || request.signal.aborted) throw TIMED_OUT;
        }
        const answered = await answer(request, tries);
        if (answered.kind === 'result' && answered.body.rest !== null) {
          streaming = true;
          return { ...answered, body: { ...answered.body, rest: until(answered.body.rest, done) } };
        }
        return answered;
      } catch (error) {
        if (request.signal.aborted) throw request.signal.reason;
        if (!late) throw error;
        if (waiting.has(request)) {
          const detail = `other calls of this client kept the nodes busy for ${request.timeoutMs} ms`;
          return { kind: 'failed', reason: 'busy', detail, retryAfterMs: 1_000 };
        }
        return {
          kind: 'failed',
          reason: 'timeout',
          detail: `no node answered within ${request.timeoutMs} ms`,
        };
      } finally {
        if (!streaming) done();
      }
    },
    broadcast(request, most) {
      void watching.used();
      return broadcast(order(request).nodes, request, most, closing.signal);
    },
    head() {
      void watching.used();
      return newestKnown();
    },
    newest() {
      const looking = watching.used();
      const refreshing = lone ? undefined : told.refresh();
      if (refreshing === undefined) return looking === undefined ? newestKnown() : looking.then(newestKnown);
      return (looking === undefined ? refreshing : Promise.all([looking, refreshing])).then(newestKnown);
    },
    async pinned(tag) {
      await watching.used();
      return pinned(tag);
    },
    finalized,
    status: () =>
      nodes.map((node) => ({
        name: node.name,
        healthy: !node.excluded && node.circuit.state === 'closed',
        head: node.head,
        latencyMs: node.latencyMs === null ? null : Math.round(node.latencyMs),
        inFlight: node.inFlight,
      })),
    async close() {
      for (const end of unreport) end?.();
      closing.abort(new Error('the gateway closes'));
      await Promise.all([told.leave(), watching.ended, ...nodes.map((node) => node.http.destroy())]);
    },
  };
  return forwarder;
}

function reportOf(node: ForwardNode, maxInFlight: number): UpstreamReport {
  const works = node.circuit.state === 'closed' && node.pause.waitMs() === 0;
  const asked = node.excluded ? 'another-chain' : works ? 'ok' : 'resting';
  return {
    state: node.cordoned ? 'cordoned' : asked,
    ...node.recent.look(),
    ...{ client: null, head: node.head, inFlight: node.inFlight, maxInFlight, lies: node.lies },
    keptBack: node.spending.refusal('backfill')?.error.message ?? null,
    lastError: node.lastError,
    can: node.tagged === null ? [] : ['the finalized tag'],
    lacks: node.history.describe(),
  };
}

async function* until<T>(source: AsyncIterable<T>, done: () => void): AsyncGenerator<T> {
  try {
    yield* source;
  } finally {
    done();
  }
}

type Result = Extract<ForwardAnswer, { kind: 'result' }>;
type Failure = Extract<ForwardAnswer, { kind: 'failed' }>;

/** The number of the newest block that a result tells; null if it tells none. */
function numberIn({ asks, tells }: ForwardRequest, { bytes, rest }: ResultBody): number | null {
  if (tells !== undefined) return tells(bytes);
  if (asks !== 'head' || rest !== null || bytes.length > 20) return null;
  const digits = /^"(0x[0-9a-f]{1,13})"$/i.exec(bytes.toString('latin1').trim())?.[1];
  return digits === undefined ? null : Number(digits);
}

function isNull({ bytes, rest }: ResultBody): boolean {
  return rest === null && bytes.length === 4 && bytes.toString('latin1') === 'null';
}

function isEmptyList({ bytes, pieces, rest }: ResultBody): boolean {
  return (
    rest === null &&
    pieces === undefined &&
    bytes.length < 8 &&
    /^\[\s*\]$/.test(bytes.toString('latin1').trim())
  );
}
