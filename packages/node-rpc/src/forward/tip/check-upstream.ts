import type { Network } from '@packhouse/networks';
import { type CallSignal, type Context, FIRST, openScope } from '@packhouse/runtime';
import type { NodeFinding } from '../../heads/final-branches.js';
import { FAR_AHEAD_BLOCKS } from '../../heads/final-votes.js';
import {
  getHeaderRequest,
  getIdentityRequest,
  type NodeRequest,
  readHash,
} from '../../upstream/node-requests.js';
import type { ForwardRequest } from '../send/forward-request.js';
import { type ForwardUpstream, TIMED_OUT } from '../send/forward-upstream.js';

interface CheckParts {
  network: Network;
  context: Context;
  nodes: readonly ForwardUpstream[];
  signal: AbortSignal;
  /** The newest block advertised, here or by another gateway. */
  advertised(): number | null;
  onFinding(finding: NodeFinding): void;
  /** Called with the hash of an upstream's first block, of a family whose final blocks are compared. */
  onGenesis?: ((node: ForwardUpstream, hash: string) => void) | undefined;
}

/** How often the chain is checked: another node may answer at an address at any time. */
const EVERY_MS = 60_000;
const FIRST_BLOCK = 0;
/** Those of others that were not heard for this long are not waited for, in milliseconds. */
const AWAY_MS = 30_000;
/**
 * A head this far above the heads of all others, above what was advertised and above what the upstream had before counts
 * once its upstream has delivered that block.
 */
export const FAR_BLOCKS = 1_000;

/** Creates the checks whether answers of an upstream about its head count. They never reject. */
export function createUpstreamChecks({
  advertised,
  context,
  network,
  nodes,
  onFinding,
  onGenesis,
  signal,
}: CheckParts) {
  const { clock, logger } = context;
  const identity = getIdentityRequest(network);
  const checkedAt = new Map<ForwardUpstream, number>();
  const delivered = new Map<ForwardUpstream, number>();
  const rejected = new Set<ForwardUpstream>();

  const getMissing = createContainment({ clock, network, nodes, signal });

  return {
    /**
     * Asks for its chain if that is due (at the start, after a rest, and every minute) or `now`. One on another chain is asked for
     * nothing else until that changes; one that cannot say is accepted. True: it has answered, and is not on another chain.
     */
    async isOnChain(node: ForwardUpstream, now = false): Promise<boolean> {
      if (identity === null) return true;
      if (node.cordoned) return false;
      const askedAt = clock.elapsed();
      const isKnown = !node.chainDoubtful;
      if (!now && isKnown && askedAt - (checkedAt.get(node) ?? Number.NEGATIVE_INFINITY) < EVERY_MS) {
        return node.exclusion === null;
      }
      const answer = await probe(node, identity, signal);
      if (answer === null) return isKnown && node.exclusion === null;
      node.chainDoubtful = false;
      checkedAt.set(node, askedAt);
      const chainId = answer.kind === 'result' ? identity.read(answer.value) : null;
      const wasRight = node.exclusion === null;
      const fault = chainId === null ? null : node.identify(chainId);
      if (wasRight && fault !== null) {
        const reason = `it serves chain ${chainId} and not ${network.chainId}`;
        onFinding({ kind: 'another-chain', upstream: node.name, reason });
      }
      if (node.exclusion !== null) return false;
      // A lone node of another genesis is found by nothing else.
      const genesis =
        onGenesis &&
        !isKnown &&
        (await probeHash(node, getHeaderRequest(network, FIRST_BLOCK), FIRST_BLOCK, signal));
      if (genesis) onGenesis?.(node, genesis);
      return true;
    },
    /**
     * A head far above all others counts only if its chain contains theirs. If they told no hash, its upstream must deliver
     * the block.
     */
    async delivers(node: ForwardUpstream, head: number): Promise<boolean> {
      const missing = await getMissing(node, head);
      if (missing !== null) {
        const facts = { network: network.id, upstream: node.name, head, ...missing };
        if (!node.isFarAhead) {
          logger.warn(facts, 'upstream is far ahead, and its chain lacks the head of the others: ignored');
        }
        node.isFarAhead = true;
        node.head = null;
        return false;
      }
      node.isFarAhead = false;
      const heads = nodes.flatMap((other) => (other === node || other.excluded ? [] : (other.head ?? [])));
      const usual = Math.max(...heads, advertised() ?? -1, delivered.get(node) ?? -1);
      const question = getHeaderRequest(network, head);
      const hasOthers = nodes.length > 1 || advertised() !== null;
      if (hasOthers && head > usual + FAR_BLOCKS && question !== null) {
        if ((await probeNumber(node, question, signal)) !== head) {
          const facts = { network: network.id, upstream: node.name, head, others: usual < 0 ? null : usual };
          if (!rejected.has(node))
            logger.warn(facts, 'upstream reports a head that it cannot deliver: ignored');
          rejected.add(node);
          return false;
        }
      }
      delivered.set(node, head);
      rejected.delete(node);
      return true;
    },
  };
}

/** Creates the look whether a chain that is far ahead of the others contains the highest of their heads. */
function createContainment({
  clock,
  network,
  nodes,
  signal,
}: Pick<CheckParts, 'network' | 'nodes' | 'signal'> & Pick<Context, 'clock'>) {
  /** The head of the others that it was last seen to contain. */
  const contained = new Map<ForwardUpstream, string>();
  /** The head of the others if the chain lacks it; else null. */
  return async (node: ForwardUpstream, head: number): Promise<{ block: number; expected: string } | null> => {
    const since = clock.elapsed() - AWAY_MS;
    const others = nodes.filter(
      (one) => one !== node && !one.excluded && one.headAt >= since && !one.standsStill,
    );
    const [best] = others.sort((a, b) => (b.head ?? -1) - (a.head ?? -1));
    const { head: block = null, headHash: expected = null } = best ?? {};
    if (block === null || expected === null || head <= block + FAR_AHEAD_BLOCKS) return null;
    if (contained.get(node) === expected) return null;
    const hash = await probeHash(node, getHeaderRequest(network, block), block, signal);
    if (hash !== expected) return { block, expected };
    contained.set(node, expected);
    return null;
  };
}

/** An upstream's answer to a request of the gateway itself. */
type ProbeAnswer = { kind: 'result'; value: unknown } | { kind: 'error'; code: number; message: string };

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 4_194_304;

/** The request of a question of the gateway itself. */
export function toForwardRequest({ method, params }: NodeRequest, signal: CallSignal): ForwardRequest {
  return {
    method,
    params: JSON.stringify(params),
    idempotent: true,
    whole: true,
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
    signal,
    caller: FIRST,
  };
}

/** Asks one upstream, independently of clients' calls; null if it does not answer. Never rejects. */
export async function probe(
  node: ForwardUpstream,
  question: NodeRequest,
  signal: AbortSignal,
): Promise<ProbeAnswer | null> {
  const scope = openScope(signal);
  const timer = setTimeout(() => scope.abort(TIMED_OUT), TIMEOUT_MS);
  try {
    scope.signal.throwIfAborted();
    const outcome = await node.tryOnce(toForwardRequest(question, scope.signal), scope.signal);
    if (outcome.kind === 'result') {
      return { kind: 'result', value: JSON.parse(outcome.body.bytes.toString('utf8')) as unknown };
    }
    const answer = outcome.kind === 'elsewhere' ? outcome.rpcError : outcome;
    return answer?.kind === 'error' ? { kind: 'error', code: answer.code, message: answer.message } : null;
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
    scope.close();
  }
}

/** The number in the answer to a question; null if there is none. */
async function probeNumber(
  node: ForwardUpstream,
  question: NodeRequest,
  signal: AbortSignal,
): Promise<number | null> {
  const answer = await probe(node, question, signal);
  return answer?.kind === 'result' ? question.read(answer.value) : null;
}

/** The hash of the block in the answer to a question for this number; null if there is none. */
export async function probeHash(
  node: ForwardUpstream,
  question: NodeRequest | null,
  number: number,
  signal: AbortSignal,
): Promise<string | null> {
  const answer = question === null ? null : await probe(node, question, signal);
  if (answer?.kind !== 'result' || question?.read(answer.value) !== number) return null;
  return readHash(answer.value);
}
