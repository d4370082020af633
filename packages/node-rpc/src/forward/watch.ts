import type { Network } from '@packhouse/networks';
import { CallController, type Context } from '@packhouse/runtime';
import type { ForwardMetrics } from '../upstream/metrics.js';
import {
  FINALIZED_QUESTION,
  headQuestion,
  identityQuestion,
  type NodeQuestion,
} from '../upstream/questions.js';
import { type ForwardNode, TIMED_OUT } from './forward-node.js';

/** Asks every upstream for its chain and its head, repeatedly, until the signal is aborted. */
export async function watchHeads(parts: {
  network: Network;
  nodes: readonly ForwardNode[];
  context: Context;
  metrics: ForwardMetrics;
  signal: AbortSignal;
}): Promise<void> {
  const { context, metrics, network, nodes, signal } = parts;
  const question = headQuestion(network);
  if (question === null) return;
  const everyMs = Math.min(network.pollIntervalMs, 5_000);
  const watchFinality = network.family === 'evm' ? createFinalityWatch(network, nodes) : undefined;

  const look = async (node: ForwardNode): Promise<void> => {
    const counts = await checkIdentity(node, parts);
    const askedAt = performance.now();
    const said = counts ? await askAside(node, question, signal) : null;
    const head = said?.kind === 'result' ? question.read(said.value) : null;
    if (head !== null) {
      node.sawHead(head, askedAt);
      metrics.head(node.name, head);
    }
    await watchFinality?.(node, head, signal);
  };

  await Promise.all(
    nodes.map(async (node) => {
      while (!signal.aborted) {
        await look(node);
        await context.clock.sleep(everyMs, signal).catch(() => undefined);
      }
    }),
  );
}

/** How often the chain is checked: another node may answer at an address at any time. */
const EVERY_MS = 60_000;

/**
 * Asks an upstream for its chain when that is due: at the start, after a rest, and every minute. One on another chain
 * is asked for nothing else until that changes; one that cannot tell is accepted. Returns whether its answers count:
 * it has answered, and is not on another chain. Never rejects.
 */
async function checkIdentity(
  node: ForwardNode,
  parts: { network: Network; context: Context; signal: AbortSignal },
): Promise<boolean> {
  const { context, network, signal } = parts;
  const question = identityQuestion(network);
  if (question === null) return true;
  const now = context.clock.now();
  const known = node.identifiedAt !== null;
  if (known && now - (node.identifiedAt as number) < EVERY_MS) return !node.excluded;
  const said = await askAside(node, question, signal);
  if (said === null) return known && !node.excluded;
  node.identifiedAt = now;
  const got = said.kind === 'result' ? question.read(said.value) : null;
  const expected = network.chainId;
  if (got === null || (got !== expected) === node.excluded) return !node.excluded;
  node.exclude(got !== expected);
  const facts = { network: network.id, upstream: node.name, expected, got };
  if (node.excluded) context.logger.warn(facts, 'node serves another chain: it is not asked');
  else context.logger.info(facts, 'node serves the right chain again');
  return !node.excluded;
}

/** Codes that refuse a parameter or a method; the message decides if the code has several meanings. */
const REFUSES = new Set([-32602, -32601, -32600, -32004, -39001]);
const SAYS_UNKNOWN = /unknown|invalid|not (found|supported|available)|unsupported|unrecogni[sz]ed/i;

/**
 * Keeps `finalized` of the upstreams of one network; called after each look at a head (null: there was none). An
 * answer for the tag counts. The depth counts if the tag is not to be used, and for an upstream that does not know it:
 * but only after all others were asked, and never above what one of them reports. A failed request changes nothing,
 * since answers about final blocks are kept for good.
 */
function createFinalityWatch(
  network: Network,
  nodes: readonly ForwardNode[],
): (node: ForwardNode, head: number | null, signal: AbortSignal) => Promise<void> {
  const { depth, tag } = network.finality;
  /** Last answers of the upstreams that know the tag. */
  const told = new Map<ForwardNode, number>();
  const unasked = new Set(nodes);

  return async (node, head, signal) => {
    if (head === null) {
      unasked.delete(node);
      return;
    }
    const byDepth = Math.max(0, head - depth);
    if (!tag) {
      node.finalized = byDepth;
      return;
    }
    const said = await askAside(node, FINALIZED_QUESTION, signal);
    unasked.delete(node);
    if (said === null) return;
    const number = said.kind === 'result' ? FINALIZED_QUESTION.read(said.value) : null;
    if (number !== null) {
      told.set(node, number);
      node.finalized = number;
      return;
    }
    const unknown =
      said.kind === 'result'
        ? said.value === null
        : REFUSES.has(said.code) || (said.code === -32000 && SAYS_UNKNOWN.test(said.message));
    if (!unknown || told.has(node) || unasked.size > 0) return;
    const others = [...told].flatMap(([other, final]) => (other.excluded ? [] : final));
    node.finalized = Math.min(byDepth, others.length === 0 ? byDepth : Math.max(...others));
  };
}

/** An upstream's answer to a request of the gateway itself. */
type Said = { kind: 'result'; value: unknown } | { kind: 'error'; code: number; message: string };

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 4_194_304;

/** Asks one upstream, independently of clients' calls; null if it does not answer. Never rejects. */
async function askAside(
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
