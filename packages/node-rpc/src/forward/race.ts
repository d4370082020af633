import { CallController } from '@packhouse/runtime';
import { type ForwardNode, OVERTAKEN } from './forward-node.js';
import type { ForwardAnswer, ForwardRequest, ResultBody } from './forwarder.js';
import type { TryOutcome } from './judge-answer.js';

/** The upstreams that may answer a call, best first. */
export interface Line {
  nodes: readonly ForwardNode[];
  /** The head that the others lack; null: none. */
  needed: number | null;
  /** The newest block when the call began; null: unknown. */
  tip: number | null;
  /** All are declared not to have blocks as old as the call's. */
  undeclared?: boolean;
}

/** What a race asks of the pool. */
export interface Pool {
  /** After how many milliseconds a second upstream is asked beside a slow one. */
  afterMs(method: string): number;
  /** Whether a second one may be asked; counts the request. */
  begin(node: ForwardNode): boolean;
  /** Whether an upstream may be asked to confirm a result. */
  mayAsk(node: ForwardNode, request: ForwardRequest, tip: number | null): boolean;
  /** `open`: told only if others agree; `unfit`: this upstream could not know; `far`: it tells a block that none has. */
  weigh(
    request: ForwardRequest,
    result: ResultBody,
    node: ForwardNode,
    tip: number | null,
  ): 'sure' | 'open' | 'unfit' | 'far';
  /** Why no other upstream was asked; undefined if there is none. */
  whyNoOther(needed: number | null, asked: boolean): string | undefined;
}

export type Elsewhere = Extract<TryOutcome, { kind: 'elsewhere' }>;
type Result = Extract<TryOutcome, { kind: 'result' }>;

/** Most further upstreams that are asked to confirm an open result. */
const MOST_CONFIRMING = 2;

const FAR: Elsewhere = {
  kind: 'elsewhere',
  reason: 'nonsense',
  detail: 'a node told of a block far above all others',
  unsent: false,
};

/** The upstream does not have the newest block, or the one asked for. */
function unfit({ block }: ForwardRequest, tip: number | null): Elsewhere {
  const needed = typeof block === 'number' && tip !== null ? Math.min(block, tip) : tip;
  return {
    ...FAR,
    reason: 'unavailable',
    detail: `the only answer is of a node that does not have block ${needed}, so that it cannot know`,
  };
}

/** Which block no upstream has any more. */
function tooOld({ block, from, method }: ForwardRequest): Elsewhere {
  const detail = `no node is declared to have what ${method} needs of block ${from ?? block}`;
  return { ...FAR, reason: 'unavailable', detail };
}

/**
 * Asks one upstream after another; once per call the next one already while one is slow. The first answer wins. An open
 * result waits for further upstreams: a surer one wins, else it is returned.
 */
export async function race(
  { nodes, needed, tip, undeclared }: Line,
  request: ForwardRequest,
  tries: Set<CallController>,
  pool: Pool,
): Promise<ForwardAnswer> {
  const running = new Set<Promise<{ outcome: TryOutcome; mine: CallController; node: ForwardNode }>>();
  let failure = undeclared === true ? tooOld(request) : undefined;
  let open: Result | undefined;
  let opens = 0;
  let confirming = 0;
  let next = 0;
  let mayHedge = request.idempotent;
  let winner: CallController | undefined;
  const start = (): void => {
    const node = nodes[next++] as ForwardNode;
    const mine = new CallController();
    tries.add(mine);
    const attempt = node.tryOnce(request, mine).then((outcome) => {
      running.delete(attempt);
      return { outcome, mine, node };
    });
    attempt.catch(() => undefined);
    running.add(attempt);
  };
  /** Starts one more upstream that may confirm; false if there is none. */
  const confirm = (): boolean => {
    while (next < nodes.length && !pool.mayAsk(nodes[next] as ForwardNode, request, tip)) next += 1;
    if (confirming === MOST_CONFIRMING || next >= nodes.length) return false;
    confirming += 1;
    start();
    return true;
  };
  try {
    for (;;) {
      if (running.size === 0) {
        if (open !== undefined) {
          if (opens > 1 || !confirm()) return open;
        } else {
          const again = failure === undefined || request.idempotent || failure.unsent;
          if (next >= nodes.length || !again) {
            return failed(failure, again ? pool.whyNoOther(needed, failure !== undefined) : undefined);
          }
          start();
        }
      }
      const hedgeMs = mayHedge && next < nodes.length ? pool.afterMs(request.method) : null;
      const first = await firstOf(running, hedgeMs);
      if (first === null) {
        mayHedge = false;
        if (pool.begin(nodes[next] as ForwardNode)) start();
        continue;
      }
      const { outcome, mine, node } = first;
      const weight = outcome.kind === 'result' ? pool.weigh(request, outcome.body, node, tip) : 'sure';
      if (outcome.kind === 'elsewhere') failure = worse(failure, outcome);
      else if (weight === 'unfit') failure = worse(failure, unfit(request, tip));
      else if (weight === 'far') failure = worse(failure, FAR);
      else if (weight === 'open' && outcome.kind === 'result') {
        open = outcome;
        opens += 1;
      } else {
        winner = mine;
        return outcome;
      }
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
export function worse(before: Elsewhere | undefined, now: Elsewhere): Elsewhere {
  return before?.said !== undefined && now.said === undefined ? before : now;
}

export function failed(failure: Elsewhere | undefined, whyNoOther: string | undefined): ForwardAnswer {
  if (failure?.said !== undefined) return failure.said;
  if (failure === undefined && whyNoOther !== undefined) {
    return { kind: 'failed', reason: 'unavailable', detail: whyNoOther };
  }
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
