import type { Upstream as Configured } from '@packhouse/networks';
import { type Clock, openScope, type PackhouseError } from '@packhouse/runtime';
import { createRateWindow } from '../spending/spending.js';
import { type Fault, makeFault, toTransportFault } from '../upstream/fault.js';
import { createHttp } from '../upstream/http.js';
import { createNodeLabel } from '../upstream/label.js';
import { readHttpAnswer, writeRequest } from './answers.js';
import { type Answer, type Call, failAll } from './call.js';

/** The outcome of one call; credentials are removed from the upstream's messages. */
export type ClientAnswer =
  | { kind: 'result'; value: unknown; ms: number }
  /** A JSON-RPC error. `what` is a clause about the upstream, e.g. `refused the credentials with HTTP 401`. */
  | { kind: 'error'; code: number; what: string; error: PackhouseError }
  /** The answer was no JSON-RPC. */
  | { kind: 'failed'; what: string; error: PackhouseError };

/** One upstream, asked one call at a time without failover: for commands that examine it. */
export type UpstreamClient = ReturnType<typeof createUpstreamClient>;

const MAX_BODY_BYTES = 33_554_432;
/** Calls in flight at most. */
const CONNECTIONS = 4;

/** Opens the connections; keeps the upstream's limit of requests a second. Calls reject only when aborted. */
export function createUpstreamClient(parts: {
  upstream: Configured;
  clock: Clock;
  /** For one answer, in milliseconds. */
  timeoutMs: number;
  signal: AbortSignal;
}) {
  const { clock, signal, timeoutMs, upstream } = parts;
  const label = createNodeLabel(upstream);
  const http = createHttp({
    upstream,
    timeoutMs,
    connections: Math.min(CONNECTIONS, upstream.maxInFlight),
    connectTimeoutMs: timeoutMs,
  });
  const { requestsPerSecond: perSecond } = upstream;
  const rate = perSecond === undefined ? undefined : createRateWindow({ perSecond, clock });

  const send = async (calls: readonly Call[]): Promise<{ answers: Answer[]; ms: number }> => {
    await rate?.take(calls.length, signal);
    const startedAt = performance.now();
    const late = AbortSignal.timeout(timeoutMs);
    const scope = openScope(signal, late);
    const failed = (fault: Fault) => ({ answers: failAll(calls, fault), ms: timeoutMs });
    const asked = { label, what: calls[0]?.method ?? '' };
    try {
      const answer = await http.post(writeRequest(calls, 1), {
        signal: scope.signal,
        maxBytes: MAX_BODY_BYTES,
      });
      const ms = performance.now() - startedAt;
      const place = { label, scope, firstId: 1, maxBodyBytes: MAX_BODY_BYTES, timeoutMs, now: clock.now() };
      return { answers: await readHttpAnswer(answer, calls, place), ms };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (!late.aborted) return failed(toTransportFault(error, asked, calls.length));
      return failed(makeFault(asked, 'NODE_TIMEOUT', `did not answer within ${timeoutMs} ms`, 'here'));
    } finally {
      scope.close();
    }
  };

  return {
    async call(method: string, params: readonly unknown[]): Promise<ClientAnswer> {
      const { answers, ms } = await send([{ method, params, weight: 1 }]);
      const [answer] = answers as [Answer];
      if (answer.ok) return { kind: 'result', value: answer.value, ms };
      const { error, happened } = answer.fault;
      const code = error.data.rpcCode;
      return typeof code === 'number'
        ? { kind: 'error', code, what: happened, error }
        : { kind: 'failed', what: happened, error };
    },
    /** Sends the same call that many times in one request; returns the number of results. */
    async batch(size: number, method: string): Promise<number> {
      const calls = Array.from({ length: size }, () => ({ method, params: [], weight: 1 }));
      return (await send(calls)).answers.filter(({ ok }) => ok).length;
    },
    close: http.destroy,
  };
}
