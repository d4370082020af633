import type { Network } from '@packhouse/networks';
import { CallController, type Context, FIRST } from '@packhouse/runtime';
import type { ForwardMetrics } from '../upstream/metrics.js';
import {
  FINALIZED_QUESTION,
  headerQuestion,
  headQuestion,
  identityQuestion,
  type NodeQuestion,
} from '../upstream/questions.js';
import { type ForwardNode, TIMED_OUT } from './forward-node.js';

interface WatchParts {
  network: Network;
  nodes: readonly ForwardNode[];
  context: Context;
  metrics: ForwardMetrics;
  signal: AbortSignal;
  /** The newest block told, here or by another gateway. */
  told(): number | null;
  /** An upstream has this head, or this final block by the tag. */
  heard(tag: 'latest' | 'finalized', number: number): void;
}

/** The watch over the heads of one network's upstreams. */
interface HeadWatch {
  /**
   * Says that the network is in use. If it was not for a while, what is known of heads may be old: the promise resolves when
   * the upstreams were asked again, or have not answered within REFRESH_MS.
   */
  used(): Promise<void> | undefined;
  /** Asks these for their heads now, unless that is under way or just happened. */
  look(nodes: readonly ForwardNode[]): void;
  /** Asks one; resolves with the answer to a question that was sent after this call. Null: there was none. */
  lookAt(node: ForwardNode): Promise<number | null>;
  /** Resolves when the watch has ended. */
  readonly ended: Promise<void>;
}

/** A network that nobody used for this long is asked rarely; a filter lives no longer without being polled. */
const IDLE_AFTER_MS = 300_000;
/** It is, at most, this old what is known of the heads of an idle network. */
const IDLE_EVERY_MS = 45_000;
/** A network that was not used yet is in use for so long, in which the first heads are heard. */
const START_MS = 30_000;
const REFRESH_MS = 1_500;
/** Two looks that nobody waits for are this far apart. */
const LOOK_GAP_MS = 100;
/** A head this far above all others counts once its upstream has delivered that block. */
export const FAR_BLOCKS = 1_000;

/** Asks every upstream for its chain and its head, repeatedly, until the signal is aborted. */
export function watchHeads(parts: WatchParts): HeadWatch {
  const { context, metrics, network, nodes, signal } = parts;
  const question = headQuestion(network);
  if (question === null) {
    const nothing = (): undefined => undefined;
    return { used: nothing, look: nothing, lookAt: async () => null, ended: Promise.resolve() };
  }
  const everyMs = Math.min(network.pollIntervalMs, 5_000);
  const watchFinality = network.family === 'evm' ? createFinalityWatch(parts) : undefined;
  const delivers = createFarCheck(parts);

  const askHead = async (node: ForwardNode): Promise<number | null> => {
    const askedAt = performance.now();
    const said = await askAside(node, question, signal);
    const head = said?.kind === 'result' ? question.read(said.value) : null;
    if (head === null || node.excluded || !(await delivers(node, head))) return null;
    node.sawHead(head, askedAt);
    metrics.head(node.name, head);
    parts.heard('latest', head);
    return head;
  };

  const looks = new Map(nodes.map((node) => [node, createLooks(() => askHead(node))]));
  let usedAt = context.clock.elapsed() - IDLE_AFTER_MS + START_MS;
  let refreshing: Promise<void> | undefined;
  const sleeping = new Set<CallController>();
  const isIdle = (): boolean => context.clock.elapsed() - usedAt > IDLE_AFTER_MS;
  /** Ends when the network is in use again, too. */
  const rest = async (): Promise<void> => {
    const woken = new CallController();
    const end = (): void => woken.abort(signal.reason);
    sleeping.add(woken);
    signal.addEventListener('abort', end, { once: true });
    await context.clock.sleep(IDLE_EVERY_MS, woken).catch(() => undefined);
    signal.removeEventListener('abort', end);
    sleeping.delete(woken);
  };
  const refresh = async (): Promise<void> => {
    for (const each of [...sleeping]) each.abort(undefined);
    const asked = nodes.map(async (node) => {
      const head = (await checkIdentity(node, parts)) ? ((await looks.get(node)?.now()) ?? null) : null;
      await watchFinality?.(node, head, signal);
    });
    const enough = new CallController();
    const late = context.clock.sleep(REFRESH_MS, enough).catch(() => undefined);
    await Promise.race([Promise.all(asked), late]);
    enough.abort(undefined);
  };
  const ended = Promise.all(
    nodes.map(async (node) => {
      while (!signal.aborted) {
        const counts = await checkIdentity(node, parts);
        const head = counts ? await askHead(node) : null;
        await watchFinality?.(node, head, signal);
        await (isIdle() ? rest() : context.clock.sleep(everyMs, signal).catch(() => undefined));
      }
    }),
  );
  return {
    used() {
      const idle = isIdle();
      usedAt = context.clock.elapsed();
      if (idle)
        refreshing = refresh().finally(() => {
          refreshing = undefined;
        });
      return refreshing;
    },
    look(some) {
      for (const node of some) if (!node.excluded) looks.get(node)?.soon();
    },
    async lookAt(node) {
      return node.excluded ? null : ((await looks.get(node)?.now()) ?? null);
    },
    ended: ended.then(() => undefined),
  };
}

/** Questions beside the regular ones: those that come while one is under way share the next one. */
function createLooks(ask: () => Promise<number | null>): { soon(): void; now(): Promise<number | null> } {
  let running: Promise<number | null> | undefined;
  let next: Promise<number | null> | undefined;
  let at = Number.NEGATIVE_INFINITY;
  const start = (): Promise<number | null> => {
    next = undefined;
    at = performance.now();
    const asking = ask().finally(() => {
      if (running === asking) running = undefined;
    });
    running = asking;
    return asking;
  };
  return {
    soon() {
      if (running === undefined && next === undefined && performance.now() - at >= LOOK_GAP_MS) void start();
    },
    now() {
      if (running === undefined && next === undefined) return start();
      next ??= (running as Promise<number | null>).then(start);
      return next;
    },
  };
}

/**
 * Creates the check of heads from the future: one that is FAR_BLOCKS above the heads of all others, above what was told
 * and above what the upstream had before counts only if the upstream delivers that block.
 */
function createFarCheck({
  context,
  network,
  nodes,
  signal,
  told,
}: WatchParts): (node: ForwardNode, head: number) => Promise<boolean> {
  const delivered = new Map<ForwardNode, number>();
  const doubted = new Set<ForwardNode>();
  return async (node, head) => {
    const heads = nodes.flatMap((other) => (other === node || other.excluded ? [] : (other.head ?? [])));
    const usual = Math.max(...heads, told() ?? -1, delivered.get(node) ?? -1);
    const question = headerQuestion(network, head);
    if ((nodes.length > 1 || told() !== null) && head > usual + FAR_BLOCKS && question !== null) {
      const said = await askAside(node, question, signal);
      const number = said?.kind === 'result' ? question.read(said.value) : null;
      if (number !== head) {
        const facts = { network: network.id, upstream: node.name, head, others: usual < 0 ? null : usual };
        if (!doubted.has(node))
          context.logger.warn(facts, 'node tells a head that it cannot deliver: it is not believed');
        doubted.add(node);
        return false;
      }
    }
    delivered.set(node, head);
    doubted.delete(node);
    return true;
  };
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
  parts: Pick<WatchParts, 'network' | 'context' | 'signal'>,
): Promise<boolean> {
  const { context, network, signal } = parts;
  const question = identityQuestion(network);
  if (question === null) return true;
  if (node.cordoned) return false;
  const now = context.clock.elapsed();
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
function createFinalityWatch({
  heard,
  network,
  nodes,
}: WatchParts): (node: ForwardNode, head: number | null, signal: AbortSignal) => Promise<void> {
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
      node.tagged = number;
      heard('finalized', number);
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
        caller: FIRST,
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
