import type { Upstream as Configured, Network } from '@packhouse/networks';
import type { Clock, Context } from '@packhouse/runtime';
import { createOwnSpending, type Spending, type UpstreamSpending } from '../spending/spending.js';
import { type Circuit, createCircuit } from './circuit.js';
import { createHttp, type HttpOptions, type UpstreamHttp } from './http.js';
import { createNodeLabel, type NodeLabel } from './label.js';
import { createRecentCalls, type RecentCalls } from './recent-calls.js';

/** One upstream as its callers need it: how it is reached, and whether it works. */
export interface Upstream {
  readonly name: string;
  readonly priority: number;
  readonly label: NodeLabel;
  readonly http: UpstreamHttp;
  readonly spending: UpstreamSpending;
  readonly circuit: Circuit;
  readonly pause: Pause;
  readonly recent: RecentCalls;
  /** An operator took it out: it is not asked. */
  cordoned: boolean;
  /** Blocks or answers that failed a proof. */
  lies: number;
  /** What went wrong last, for its operator; null: nothing yet. */
  readonly lastError: string | null;
  /** The highest block seen on it. */
  head: number | null;
  /** Smoothed, in milliseconds; null while unknown. */
  latencyMs: number | null;
  answeredAfter(ms: number): void;
  /** Reports a failure; `why` is for its operator, an error or a few words. */
  failed(why: unknown): void;
}

interface UpstreamOptions extends Omit<HttpOptions, 'upstream'> {
  upstream: Configured;
  network: Pick<Network, 'id'>;
  context: Pick<Context, 'clock' | 'logger'>;
  spending?: Spending | undefined;
  /** Called when a rest begins or ends; another node may answer after it. */
  onRest?: (rests: boolean) => void;
}

/** Opens one upstream; nothing is sent yet. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { context, network, onRest, upstream } = options;
  const { clock, logger } = context;
  const { name, priority } = upstream;
  let because: unknown;
  const circuit = createCircuit({
    clock,
    onChange: (open) => {
      const facts = { network: network.id, upstream: name };
      const why = because instanceof Error ? { err: because } : { because };
      onRest?.(open);
      if (open) logger.warn({ ...facts, ...why }, 'node keeps failing: resting it');
      else logger.info(facts, 'node answers again');
    },
  });
  const self: Upstream = {
    name,
    priority,
    label: createNodeLabel(upstream),
    http: createHttp(options),
    spending: (options.spending ?? createOwnSpending(clock)).of(network.id, upstream),
    circuit,
    pause: createPause(clock),
    recent: createRecentCalls(clock),
    cordoned: false,
    lies: 0,
    lastError: null,
    head: null,
    latencyMs: null,
    answeredAfter: (ms) => {
      self.latencyMs = smooth(self.latencyMs, ms);
    },
    failed: (why) => {
      because = why;
      Object.assign(self, { lastError: why instanceof Error ? why.message : String(why) });
      circuit.failed();
    },
  };
  return self;
}

/** A moving average: half of a change shows after three values. */
export function smooth(before: number | null, value: number): number {
  return before === null ? value : before * 0.8 + value * 0.2;
}

/** The pauses that one upstream asked for. */
interface Pause {
  /** Milliseconds until it may be asked; 0 now. */
  waitMs(): number;
  /** Reports that it asked for one, in answer to a request that began at `startedAt` (performance.now). */
  ask(wish: { pauseMs: number; retryAfterMs?: number | undefined }, startedAt: number): void;
  /** Reports a good answer: the next pause is a first one. */
  over(): void;
}

/** Longest pause by doubling; a pause that the upstream asks for may be longer: see retryAfterMs. */
const LONGEST_MS = 60_000;

/** Creates the pauses: as long as the upstream asks, else the usual time, doubled each time in a row up to a minute. */
function createPause(clock: Clock): Pause {
  let until = 0;
  let inARow = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    waitMs: () => (until === 0 ? 0 : Math.max(0, until - clock.elapsed())),
    ask: ({ pauseMs, retryAfterMs }, startedAt) => {
      if (pauseMs === 0 && retryAfterMs === undefined) return;
      // Requests that were in flight together are refused together: one doubling for all of them.
      if (startedAt >= lastAt) {
        inARow += 1;
        lastAt = performance.now();
      }
      const usual = Math.min(LONGEST_MS, pauseMs * 2 ** Math.min(inARow - 1, 10));
      until = Math.max(until, clock.elapsed() + (retryAfterMs ?? usual));
    },
    over: () => {
      inARow = 0;
    },
  };
}
