import type { Network } from '@packhouse/networks';
import { type Clock, type Context, PackhouseError } from '@packhouse/runtime';
import type { Use } from '../spending/budget-rule.js';
import { createOwnSpending, type Spending, type UpstreamSpending } from '../spending/spending.js';
import { type Circuit, createCircuit } from './circuit.js';
import { type Fault, makeFault } from './fault.js';
import { createHistory, type History } from './history.js';
import { createHttp, type HttpOptions, type UpstreamHttp } from './http.js';
import { createNodeLabel, type NodeLabel } from './label.js';
import type { UpstreamMetrics } from './metrics.js';
import { createRecentCalls, type RecentCalls } from './recent-calls.js';

export interface UpstreamOptions extends HttpOptions {
  network: Pick<Network, 'id' | 'chainId'>;
  context: Pick<Context, 'clock' | 'logger'>;
  metrics: UpstreamMetrics;
  spending?: Spending;
}

/** A head that is the same for so long stands still, in milliseconds: ten blocks of Ethereum. */
const STILL_MS = 120_000;

/** One upstream and its state, whichever way it is asked: in batches (calls/) or by forwarding (forward/). */
export class Upstream {
  readonly name: string;
  readonly provider: string;
  readonly priority: number;
  readonly label: NodeLabel;
  readonly http: UpstreamHttp;
  readonly spending: UpstreamSpending;
  readonly circuit: Circuit;
  readonly pause: Pause;
  readonly history: History;
  readonly recent: RecentCalls;
  readonly metrics: UpstreamMetrics;
  cordoned = false;
  /** Why it gets no requests: it serves another chain, or is cordoned. */
  exclusion: PackhouseError | null = null;
  /** Another node may answer at its address by now: its chain id is requested first. */
  chainDoubtful = false;
  /** It has another block in place of a final one: asked last. */
  offChain = false;
  /** Blocks and answers that failed a proof. */
  invalidResponses = 0;
  lastError: string | null = null;
  /** The highest block seen on it. */
  head: number | null = null;
  /** The hash of that block; null if it was not told. */
  headHash: string | null = null;
  /** When its head was last received, in the clock's milliseconds. */
  headAt = 0;
  finalized: number | null = null;
  /** Its last answer for the tag `finalized`. */
  tagged: number | null = null;
  /** Smoothed, in milliseconds; null while unknown. */
  latencyMs: number | null = null;
  readonly #options: UpstreamOptions;
  readonly #leftOut: Record<'final' | 'head', string | null> = { final: null, head: null };
  readonly #facts: { network: string; upstream: string };
  #failure: unknown;
  #headSentAt = 0;
  #headMovedAt = 0;
  #distrustedUntil = 0;

  /** Opens it; nothing is sent yet. */
  constructor(options: UpstreamOptions) {
    const { metrics, network, upstream } = options;
    const { clock } = options.context;
    this.#options = options;
    this.#facts = { network: network.id, upstream: upstream.name };
    this.name = upstream.name;
    this.provider = upstream.provider;
    this.priority = upstream.priority;
    this.label = createNodeLabel(upstream);
    this.http = createHttp(options);
    this.spending = (options.spending ?? createOwnSpending(clock)).of(network.id, upstream);
    this.circuit = createCircuit({ clock, onChange: (open) => this.#onCircuit(open) });
    this.pause = createPause(clock);
    this.history = createHistory(upstream, clock);
    this.recent = createRecentCalls(clock);
    this.metrics = metrics;
    metrics.healthy(true);
  }

  /** Why it gets no reads: most other nodes have another final block, or another branch at their heads. A clause. */
  get leftOut(): string | null {
    return this.#leftOut.final ?? this.#leftOut.head;
  }

  /** Whether nothing that it says counts: it serves another chain, is cordoned, or left out. */
  get excluded(): boolean {
    return this.exclusion !== null || this.leftOut !== null;
  }

  /** Whether it is asked like any other: not excluded, off the chain, resting or distrusted. */
  isHealthy(): boolean {
    return !this.excluded && this.circuit.state === 'closed' && !this.isSuspect();
  }

  /** Whether it is asked last: it is off the chain, or failed a proof a short time ago. */
  isSuspect(): boolean {
    return this.offChain || this.#distrustedUntil > this.#options.context.clock.elapsed();
  }

  distrust(forMs: number): void {
    this.#distrustedUntil = this.#options.context.clock.elapsed() + forMs;
  }

  /** Milliseconds until it may be asked, by its circuit, pause and budget. Infinity: excluded, or one probe is in flight. */
  waitMs(use: Use = 'urgent'): number {
    if (this.excluded) return Number.POSITIVE_INFINITY;
    return Math.max(this.circuit.waitMs(), this.pause.waitMs(), this.spending.refusal(use)?.waitMs ?? 0);
  }

  /** Counts requests of one outcome. */
  count(method: string, outcome: string, calls: number): void {
    this.metrics.requests(method, outcome, calls);
    this.recent.called(method, outcome, calls);
  }

  /** Records the time of one HTTP request. */
  took(method: string, ms: number): void {
    this.metrics.took(method, ms / 1_000);
    this.recent.answered(method, ms);
  }

  answeredAfter(ms: number): void {
    this.latencyMs = smooth(this.latencyMs, ms);
  }

  /** Reports a failure; `reason` is for its operator, an error or a few words. */
  failed(reason: unknown): void {
    this.#failure = reason;
    this.lastError = reason instanceof Error ? reason.message : String(reason);
    this.circuit.failed();
  }

  noteInvalidResponse(method: string): void {
    this.invalidResponses += 1;
    this.metrics.invalidResponse(method);
  }

  /** Notes its head, from a request sent at `sentAt` (performance.now). */
  sawHead(head: number, sentAt: number, hash: string | null = null): void {
    // Answers may overtake each other: an older request does not take the head back.
    if (this.head !== null && head < this.head && sentAt < this.#headSentAt) return;
    this.#headSentAt = performance.now();
    if (head !== this.head || hash !== this.headHash)
      this.#headMovedAt = this.#options.context.clock.elapsed();
    this.head = head;
    this.headHash = hash;
    this.headAt = this.#options.context.clock.elapsed();
  }

  /** Whether its head stands still for long, perhaps on a block that its chain left: it judges no other's. */
  get standsStill(): boolean {
    return this.#options.context.clock.elapsed() - this.#headMovedAt > STILL_MS;
  }

  /** Notes the chain id that it reported, or null if that is unknown now; returns the fault if it is another chain's. */
  identify(chainId: number | null): Fault | null {
    const { context, network } = this.#options;
    const isOther = chainId !== null && chainId !== network.chainId;
    const fault = isOther ? toWrongChainFault(this.label, network, chainId) : null;
    if (this.cordoned) return fault;
    if (isOther === (this.exclusion !== null)) this.exclusion = fault?.error ?? null;
    else {
      this.#exclude(fault?.error ?? null);
      const chains = { ...this.#facts, expected: network.chainId, got: chainId };
      if (isOther) context.logger.warn(chains, 'upstream serves another chain');
      else if (chainId !== null) context.logger.info(chains, 'upstream serves the right chain again');
    }
    return fault;
  }

  /** Takes it out, or puts it back: then its chain id is requested first. */
  cordon(is: boolean): void {
    this.cordoned = is;
    // Another node may answer after maintenance.
    this.chainDoubtful = true;
    this.#exclude(is ? buildCordonError(this.#options.network, this.label) : null);
  }

  /** Leaves it out of reads for this reason, or takes it back (null), as far as its final blocks or its head go. */
  leaveOut(reason: string | null, by: 'final' | 'head'): void {
    const before = this.leftOut;
    this.#leftOut[by] = reason;
    if ((this.leftOut === null) !== (before === null)) this.#forget();
  }

  #exclude(exclusion: PackhouseError | null): void {
    this.exclusion = exclusion;
    this.#forget();
  }

  /** What it reported before may have come from another node, or another chain. */
  #forget(): void {
    Object.assign(this, { head: null, headHash: null, finalized: null, tagged: null });
    this.metrics.healthy(this.isHealthy());
  }

  #onCircuit(open: boolean): void {
    const { logger } = this.#options.context;
    this.metrics.healthy(this.isHealthy());
    if (open) {
      this.chainDoubtful = true;
      const reason = this.#failure instanceof Error ? { err: this.#failure } : { reason: this.#failure };
      logger.warn({ ...this.#facts, ...reason }, 'upstream circuit opened');
    } else logger.info(this.#facts, 'upstream circuit closed');
  }
}

/** The pauses that an upstream asked for. */
type Pause = ReturnType<typeof createPause>;

/** By doubling; a pause that the upstream asks for may be longer: see retryAfterMs. */
const MAX_PAUSE_MS = 60_000;

/** Creates the pauses: as long as the upstream asks, else the usual time, doubled each time in a row up to a minute. */
function createPause(clock: Clock) {
  let until = 0;
  let inARow = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    /** Milliseconds until it may be asked; 0 now. */
    waitMs: (): number => (until === 0 ? 0 : Math.max(0, until - clock.elapsed())),
    /** Reports that it asked for one, in answer to a request that began at `startedAt` (performance.now). */
    ask: ({ pauseMs, retryAfterMs }: Pick<Fault, 'pauseMs' | 'retryAfterMs'>, startedAt: number): void => {
      if (pauseMs === 0 && retryAfterMs === undefined) return;
      // Requests that were in flight together are refused together: one doubling for all of them.
      if (startedAt >= lastAt) {
        inARow += 1;
        lastAt = performance.now();
      }
      const usual = Math.min(MAX_PAUSE_MS, pauseMs * 2 ** Math.min(inARow - 1, 10));
      until = Math.max(until, clock.elapsed() + (retryAfterMs ?? usual));
    },
    /** Reports a good answer: the next pause is a first one. */
    over: (): void => {
      inARow = 0;
    },
  };
}

/** A moving average: half of a change shows after three values. */
export function smooth(before: number | null, value: number): number {
  return before === null ? value : before * 0.8 + value * 0.2;
}

function buildCordonError(network: Pick<Network, 'id'>, label: NodeLabel): PackhouseError {
  return new PackhouseError({
    code: 'NODE_UNREACHABLE',
    message: `Node ${label.text} of ${network.id} is cordoned by an operator.`,
    hint: `\`packhouse nodes list\` says why; \`packhouse nodes uncordon ${network.id} ${label.name}\` ends it.`,
    data: { upstream: label.name },
  });
}

function toWrongChainFault(
  label: NodeLabel,
  network: Pick<Network, 'id' | 'chainId'>,
  chainId: number,
): Fault {
  const happened = `serves chain ${chainId} and not ${network.chainId}, as it says`;
  return makeFault({ label, what: 'eth_chainId' }, 'NODE_WRONG_CHAIN', happened, 'elsewhere', {
    hint: `Give the address of a node of ${network.id}, or correct the chain id.`,
    data: { expected: network.chainId, got: chainId },
  });
}
