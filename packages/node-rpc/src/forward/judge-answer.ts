import type { Family } from '@packhouse/networks';
import type { Meaning, Verdict } from '../upstream/meanings.js';
import { asksForPause, judgeError, judgeStatus } from '../upstream/verdict.js';
import type { TryOutcome } from './forward-node.js';
import type { ForwardAnswer, ForwardRequest } from './forwarder.js';
import type { ReadAnswer } from './read-answer.js';

/** What is noted of a node by its answers. */
interface NodeHealth {
  succeeded(): void;
  /** `why` is for its operator. */
  failed(why: string): void;
  pause(wish: { pauseMs: number; retryAfterMs: number | undefined }, startedAt: number): void;
  recovered(): void;
}

/** Judges an answer by its HTTP status and what was read; `wait` is what it asked to wait, in milliseconds. */
export type Judge = (
  request: ForwardRequest,
  read: ReadAnswer,
  status: number,
  wait: number | undefined,
  startedAt: number,
) => TryOutcome;

/** What clients hear of the operator's business with a node; what it said is for the operator. */
const TROUBLE: Partial<Record<Meaning, string>> = {
  'slow-down': 'the nodes ask for fewer requests',
  plan: 'the nodes do not let the gateway in',
  refused: 'the nodes do not let the gateway in',
};

/** Makes the judge of one node's answers. */
export function createJudge({
  family,
  health,
  name,
}: {
  family: Family;
  health: NodeHealth;
  name: string;
}): Judge {
  const note = (verdict: Verdict, why: string, wait: number | undefined, startedAt: number): void => {
    if (verdict.weighs === false) health.succeeded();
    else health.failed(why);
    if (asksForPause(verdict)) health.pause({ pauseMs: verdict.pauseMs, retryAfterMs: wait }, startedAt);
  };
  return (request, read, status, wait, startedAt) => {
    if (read.kind === 'result' && status === 200) {
      health.succeeded();
      health.recovered();
      return { kind: 'result', body: read.body, upstream: name };
    }
    const parsed = read.kind === 'error' ? parseError(read.error) : null;
    if (parsed !== null && read.kind === 'error') {
      const { code, message } = parsed;
      const verdict = judgeError(status, code, message, { method: request.method, family, calls: 1 });
      note(verdict, status === 200 ? `error ${code}, ${verdict.meaning}` : `HTTP ${status}`, wait, startedAt);
      const said = { kind: 'error', error: read.error, code, message, upstream: name } as const;
      if (verdict.retry === 'none') return said;
      const detail = TROUBLE[verdict.meaning];
      if (detail !== undefined) return elsewhere('unavailable', detail, wait);
      return verdict.weighs === false
        ? elsewhere('unavailable', 'no node has it', wait, said)
        : elsewhere('unavailable', 'a node failed', wait);
    }
    if (status !== 200) {
      const verdict = judgeStatus(status);
      note(verdict, `HTTP ${status}`, wait, startedAt);
      return elsewhere('unavailable', TROUBLE[verdict.meaning] ?? `a node answered HTTP ${status}`, wait);
    }
    if (read.kind === 'too-large') {
      health.succeeded();
      const detail = `the answer is larger than ${request.maxBytes} bytes`;
      return { kind: 'failed', reason: 'too-large', detail };
    }
    health.failed('no JSON-RPC');
    const what = read.kind === 'nonsense' ? read.what : 'an error that is none';
    return elsewhere('nonsense', `a node sent ${what}`, wait);
  };
}

function elsewhere(
  reason: 'unavailable' | 'nonsense',
  detail: string,
  wait: number | undefined,
  said?: Extract<ForwardAnswer, { kind: 'error' }>,
): TryOutcome {
  return {
    kind: 'elsewhere',
    reason,
    detail,
    unsent: false,
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
    ...(said === undefined ? {} : { said }),
  };
}

function parseError(bytes: Buffer): { code: number; message: string } | null {
  try {
    const { code, message } = JSON.parse(bytes.toString('utf8')) as { code?: unknown; message?: unknown };
    if (typeof code !== 'number') return null;
    return { code, message: typeof message === 'string' ? message : '' };
  } catch {
    return null;
  }
}
