import { CallController, openScope } from '@packhouse/runtime';
import { type Candidates, explainNotAsked, type Pool } from './candidates.js';
import type { ForwardAnswer, ForwardRequest, Lack, ResultBody } from './send/forward-request.js';
import { type ForwardUpstream, type MethodTimes, OVERTAKEN, TIMED_OUT } from './send/forward-upstream.js';
import type { TryOutcome } from './send/judge-answer.js';
import { isEmptyList, reaches, type Weight, weighResult } from './weigh-result.js';

/*
 * The race of one call:
 *
 *   start the next upstream ◀──────────────── none runs ──┬── none is left ─▶ the failure, an upstream's own error first
 *     │                                                   │
 *     ▼                                                   │
 *   asking ── it is slow, once per call ─▶ asking two     │
 *     │ one of them answered                              │
 *     ├── failed, too high, stale, regressed, lacking ────┘
 *     ├── accepted ─▶ it wins, and the other tries are ended
 *     └── unconfirmed ─▶ confirming: up to MAX_CONFIRMING further upstreams, one after the other
 *                          ├── one is accepted ─▶ it wins
 *                          ├── a second one is unconfirmed, or none is left ─▶ the last unconfirmed one
 *                          └── CONFIRM_MS are over ─▶ the first unconfirmed one
 */

type TryFailure = Extract<TryOutcome, { kind: 'elsewhere' }>;
type Result = Extract<TryOutcome, { kind: 'result' }>;

/** Most further upstreams that are asked to confirm a result, and how long a result waits for them, in milliseconds. */
const MAX_CONFIRMING = 2;
const CONFIRM_MS = 3_000;

const TOO_HIGH: TryFailure = {
  kind: 'elsewhere',
  reason: 'nonsense',
  detail: 'a node advertised a block far above all others',
  unsent: false,
};

const LACKING: TryFailure = {
  ...TOO_HIGH,
  reason: 'unavailable',
  detail: 'the only answer is an empty list, and the header of its block says that there is more',
};

/** Whether the headers of its blocks may decide on a result: not on one of a node that lacks them, nor on null. */
function mayTell(weight: Weight, body: ResultBody): boolean {
  return weight === 'accepted' || (weight === 'unconfirmed' && isEmptyList(body));
}

const BY_LACK: Readonly<Record<Lack, Weight>> = {
  nothing: 'accepted',
  unknown: 'unconfirmed',
  likely: 'unconfirmed',
  certain: 'lacking',
};

interface Raced {
  answer: ForwardAnswer;
  /** An upstream answered from before its known head. */
  regressed: boolean;
  /** The answer likely lacks something, and no other upstream was there to say the same. */
  isAlone: boolean;
}

/** The upstream does not have the newest block, or the requested one. */
function buildStaleFailure({ block }: ForwardRequest, tip: number | null): TryFailure {
  const needed = typeof block === 'number' && tip !== null ? Math.min(block, tip) : tip;
  const detail = `the only answer is of a node that does not have block ${needed}, so that it cannot know`;
  return { ...TOO_HIGH, reason: 'unavailable', detail };
}

/** No upstream has the block any more. */
function buildTooOldFailure({ block, from, method }: ForwardRequest): TryFailure {
  const detail = `no node is declared to have what ${method} needs of block ${from ?? block}`;
  return { ...TOO_HIGH, reason: 'unavailable', detail };
}

/** A try that has ended. */
interface Attempt {
  outcome: TryOutcome;
  mine: CallController;
  node: ForwardUpstream;
}

/** Creates the tries of a race: the upstreams are asked in their order, each once. */
function createAttempts({ nodes, tip }: Candidates, request: ForwardRequest, tries: Set<CallController>) {
  const { crossCheck } = request;
  const running = new Set<Promise<Attempt>>();
  let next = 0;
  let confirming = 0;
  const start = (): void => {
    const node = nodes[next++] as ForwardUpstream;
    const mine = new CallController();
    tries.add(mine);
    const attempt = node.tryOnce(request, mine).then((outcome) => {
      running.delete(attempt);
      return { outcome, mine, node };
    });
    attempt.catch(() => undefined);
    running.add(attempt);
  };
  const mayConfirm = (node: ForwardUpstream): boolean =>
    node.waitMs() === 0 && (crossCheck === undefined || crossCheck === 'head' || reaches(node, request, tip));
  return {
    running,
    hasNext: (): boolean => next < nodes.length,
    start,
    /** Starts one more upstream that may confirm; false if there is none. */
    confirm(): boolean {
      while (next < nodes.length && !mayConfirm(nodes[next] as ForwardUpstream)) next += 1;
      if (confirming === MAX_CONFIRMING || next >= nodes.length) return false;
      confirming += 1;
      start();
      return true;
    },
    /** Starts a second upstream beside a slow one, if one may be asked. */
    hedge(): void {
      const node = nodes[next] as ForwardUpstream;
      if (node.waitMs() > 0) return;
      node.metrics.hedged();
      start();
    },
    /** Ends all tries but the winner's. A streamed answer still has to end with the whole call. */
    end(winner: CallController | undefined): void {
      const several = tries.size > 1;
      for (const each of tries) {
        if (each === winner) continue;
        tries.delete(each);
        if (several) each.abort(OVERTAKEN);
      }
    },
  };
}

/**
 * Asks one upstream after another; once per call the next one already while one is slow. The first answer wins. An
 * unconfirmed result waits a while for further upstreams: an accepted one wins, else it is returned.
 */
export async function race(
  pool: Pool,
  times: MethodTimes,
  candidates: Candidates,
  request: ForwardRequest,
  tries: Set<CallController>,
): Promise<Raced> {
  const { needed, tip, undeclared } = candidates;
  const attempts = createAttempts(candidates, request, tries);
  const { running } = attempts;
  let failure = undeclared === true ? buildTooOldFailure(request) : undefined;
  const unconfirmed: Result[] = [];
  let confirmedBy = 0;
  let mayHedge = request.idempotent;
  let regressed = false;
  let isLikely = false;
  let winner: CallController | undefined;

  /** Starts the next upstream; the answer if there is no more to start. */
  const proceed = (): ForwardAnswer | null => {
    const last = unconfirmed.at(-1);
    if (last !== undefined) return unconfirmed.length > 1 || !attempts.confirm() ? last : null;
    const again = failure === undefined || request.idempotent || failure.unsent;
    if (attempts.hasNext() && again) {
      attempts.start();
      return null;
    }
    const reason = again ? explainNotAsked(pool.nodes, needed, failure !== undefined) : undefined;
    return toFailedAnswer(failure, reason);
  };
  try {
    for (;;) {
      const ended = running.size === 0 ? proceed() : null;
      if (ended !== null) return { answer: ended, regressed, isAlone: isLikely && unconfirmed.length === 1 };
      const [told] = unconfirmed;
      const hedgeMs = mayHedge && attempts.hasNext() ? times.getHedgeDelay(request.method) : null;
      const waitMs = told === undefined ? hedgeMs : Math.max(0, confirmedBy - performance.now());
      const first = await waitForFirst(running, waitMs);
      if (first === null) {
        if (told !== undefined) return { answer: told, regressed, isAlone: false };
        mayHedge = false;
        attempts.hedge();
        continue;
      }
      const { outcome, mine, node } = first;
      let weight: Weight = 'accepted';
      if (outcome.kind === 'result') {
        weight = weighResult(pool, request, outcome.body, node, tip);
        if (request.lacks !== undefined && mayTell(weight, outcome.body)) {
          const asked = request.lacks(outcome.body);
          const lack = asked instanceof Promise ? await asked : asked;
          isLikely ||= lack === 'likely';
          weight = BY_LACK[lack];
        }
      }
      if (outcome.kind === 'elsewhere') failure = preferRpcError(failure, outcome);
      else if (weight === 'too-high') failure = preferRpcError(failure, TOO_HIGH);
      else if (weight === 'lacking') failure = preferRpcError(failure, LACKING);
      else if (weight === 'unconfirmed' && outcome.kind === 'result') {
        if (unconfirmed.push(outcome) === 1) {
          confirmedBy = performance.now() + Math.min(CONFIRM_MS, request.timeoutMs / 2);
        }
      } else if (weight === 'accepted') {
        winner = mine;
        return { answer: outcome, regressed, isAlone: false };
      } else {
        regressed ||= weight === 'regressed';
        failure = preferRpcError(failure, buildStaleFailure(request, tip));
      }
    }
  } finally {
    attempts.end(winner);
  }
}

/**
 * Sends one request to `most` upstreams at once; returns the answer of each. In the place of one that cannot be asked
 * the next one is. Ends with the time of the request or with `closing`, not with the request's signal: what
 * was sent to one upstream is still sent to the others when its client has disconnected. The promises never reject.
 */
export function broadcast(
  nodes: readonly ForwardUpstream[],
  request: ForwardRequest,
  most: number,
  closing: AbortSignal,
): Promise<ForwardAnswer>[] {
  const scope = openScope(closing);
  const timer = setTimeout(() => scope.abort(TIMED_OUT), request.timeoutMs);
  let next = 0;
  const askOne = async (): Promise<ForwardAnswer> => {
    let failure: TryFailure | undefined;
    try {
      while (next < nodes.length) {
        const node = nodes[next++] as ForwardUpstream;
        const outcome = await node.tryOnce(request, scope.signal);
        if (outcome.kind !== 'elsewhere') return outcome;
        failure = preferRpcError(failure, outcome);
      }
    } catch {
      if (failure?.rpcError !== undefined) return failure.rpcError;
      const detail = `no node answered within ${request.timeoutMs} ms`;
      return { kind: 'failed', reason: 'timeout', detail };
    }
    return toFailedAnswer(failure);
  };
  // Each takes its first upstream before any other takes a second.
  const answers = Array.from({ length: Math.max(1, Math.min(most, nodes.length)) }, askOne);
  void Promise.all(answers).then(() => {
    clearTimeout(timer);
    scope.close();
  });
  return answers;
}

/** The first error of an upstream is preferred to the lack of an answer; else the last failure is returned. */
function preferRpcError(before: TryFailure | undefined, now: TryFailure): TryFailure {
  return before?.rpcError === undefined ? now : before;
}

/** The answer to a call that failed; `whyNoOther`: why no other upstream was asked, if there are others. */
function toFailedAnswer(failure: TryFailure | undefined, whyNoOther?: string): ForwardAnswer {
  if (failure?.rpcError !== undefined) return failure.rpcError;
  if (failure === undefined && whyNoOther !== undefined) {
    return { kind: 'failed', reason: 'unavailable', detail: whyNoOther };
  }
  const none = { reason: 'unavailable', detail: 'no node is available', retryAfterMs: undefined } as const;
  const { reason, detail, retryAfterMs } = failure ?? none;
  return {
    kind: 'failed',
    // What could not be answered by others for want of a block may be answered soon.
    reason: whyNoOther === undefined ? reason : 'unavailable',
    detail: whyNoOther === undefined ? detail : `${detail}, and ${whyNoOther}`,
    retryAfterMs,
  };
}

/** The first that settles, or null after `ms`. */
async function waitForFirst<T>(running: ReadonlySet<Promise<T>>, ms: number | null): Promise<T | null> {
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
