import type { Family } from '@packhouse/networks';
import { classifyNodeError, refusesLogs } from './classify-node-error.js';
import type { TryOutcome } from './forward-node.js';
import type { ForwardAnswer, ForwardRequest } from './forwarder.js';
import { nodeTrouble } from './node-trouble.js';
import type { ReadAnswer } from './read-answer.js';

/** What is noted of a node by its answers. */
interface NodeHealth {
  succeeded(): void;
  /** `why` is for its operator. */
  failed(why: string): void;
  pause(ms: number): void;
}

/** Judges an answer by its HTTP status and what was read; `wait` is what it asked to wait, in milliseconds. */
export type Judge = (
  request: ForwardRequest,
  read: ReadAnswer,
  status: number,
  wait: number | undefined,
) => TryOutcome;

const DEFAULT_PAUSE_MS = 1_000;

/** What clients hear of a node's trouble; what it said is for its operator. */
const TROUBLE = {
  busy: 'the nodes ask for fewer requests',
  refused: 'the nodes do not let the gateway in',
  broken: 'a node failed',
} as const;

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
  return (request, read, status, wait) => {
    if (read.kind === 'result' && status === 200) {
      health.succeeded();
      return { kind: 'result', body: read.body, upstream: name };
    }
    const parsed = read.kind === 'error' ? parseError(read.error) : null;
    const trouble = nodeTrouble(status);
    // Nodes that give up on a wide range say so with any status.
    const range =
      status >= 500 && parsed !== null && refusesLogs(request.method, parsed.code, parsed.message);
    if (trouble !== null && !range) {
      health.failed(`HTTP ${status}`);
      if (trouble === 'busy') health.pause(wait ?? DEFAULT_PAUSE_MS);
      return elsewhere('unavailable', TROUBLE[trouble], wait);
    }
    if (read.kind === 'too-large' && status === 200) {
      health.succeeded();
      const detail = `the answer is larger than ${request.maxBytes} bytes`;
      return { kind: 'failed', reason: 'too-large', detail };
    }
    if (read.kind !== 'error') {
      health.failed(status === 200 ? 'no JSON-RPC' : `HTTP ${status}`);
      if (status !== 200) return elsewhere('unavailable', `a node answered HTTP ${status}`, wait);
      return elsewhere('nonsense', `a node sent ${read.kind === 'nonsense' ? read.what : 'nonsense'}`, wait);
    }
    if (parsed === null) {
      health.failed('no JSON-RPC');
      return elsewhere('nonsense', 'a node sent an error that is none', wait);
    }
    const said = { kind: 'error', error: read.error, ...parsed, upstream: name } as const;
    const meaning = classifyNodeError(family, request.method, parsed.code, parsed.message);
    if (meaning === 'busy') {
      health.failed(`error ${parsed.code}, fewer requests`);
      health.pause(wait ?? DEFAULT_PAUSE_MS);
      return elsewhere('unavailable', TROUBLE.busy, wait);
    }
    health.succeeded();
    return meaning === 'answer' ? said : elsewhere('unavailable', 'no node has it', wait, said);
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
