import { CallController } from '@packhouse/runtime';
import type { ForwardNode } from './forward-node.js';
import { TIMED_OUT } from './given-up.js';
import type { NodeQuestion } from './head-question.js';

/** What a node says to a question of the gateway's own. */
export type Said = { kind: 'result'; value: unknown } | { kind: 'error'; code: number; message: string };

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 4_194_304;

/** Asks one node beside the calls of clients; null where it does not answer. Never rejects. */
export async function askAside(
  node: ForwardNode,
  { method, params }: NodeQuestion,
  signal: AbortSignal,
): Promise<Said | null> {
  const stop = new CallController();
  const end = (): void => stop.abort(signal.reason);
  signal.addEventListener('abort', end, { once: true });
  const timer = setTimeout(() => stop.abort(TIMED_OUT), TIMEOUT_MS);
  try {
    signal.throwIfAborted();
    const outcome = await node.tryOnce(
      {
        method,
        params: JSON.stringify(params),
        idempotent: true,
        whole: true,
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_BYTES,
        signal: stop,
      },
      stop,
    );
    if (outcome.kind === 'result') {
      return { kind: 'result', value: JSON.parse(outcome.body.bytes.toString('utf8')) as unknown };
    }
    const said = outcome.kind === 'elsewhere' ? outcome.said : outcome;
    return said?.kind === 'error' ? { kind: 'error', code: said.code, message: said.message } : null;
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}
