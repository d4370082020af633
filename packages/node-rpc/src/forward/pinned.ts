import type { Network } from '@packhouse/networks';
import { CallController, type Clock, FIRST } from '@packhouse/runtime';
import { SAFE_QUESTION } from '../upstream/questions.js';
import type { ForwardNode } from './forward-node.js';
import type { ForwardAnswer, ForwardRequest } from './forwarder.js';
import type { Told } from './told.js';

const SAFE_TIMEOUT_MS = 5_000;
const SAFE_BYTES = 4_194_304;

/**
 * Creates the look-up of the blocks that `safe` and `finalized` stand for. A node's answer for such a block by its number
 * is the one for the tag, so that any node that has the block may answer, and the answer is never before one told
 * earlier. The watch asks for `finalized` anyway; `safe` is asked for when a client does, once in a poll interval.
 */
export function createPinned(parts: {
  network: Network;
  nodes: readonly ForwardNode[];
  told: Told;
  clock: Pick<Clock, 'elapsed'>;
  newestKnown(): number | null;
  ask(request: ForwardRequest): Promise<ForwardAnswer>;
}): (tag: 'safe' | 'finalized') => Promise<number | null> {
  const { ask, clock, network, newestKnown, nodes, told } = parts;
  const everyMs = Math.min(network.pollIntervalMs, 5_000);
  let safe: { number: Promise<number | null>; at: number } | undefined;

  const askSafe = async (): Promise<number | null> => {
    const answer = await ask({
      method: SAFE_QUESTION.method,
      params: JSON.stringify(SAFE_QUESTION.params),
      ...{ idempotent: true, whole: true, block: 'tip' },
      ...{ timeoutMs: SAFE_TIMEOUT_MS, maxBytes: SAFE_BYTES, signal: new CallController() },
      caller: FIRST,
    });
    if (answer.kind !== 'result') return null;
    return SAFE_QUESTION.read(JSON.parse(answer.body.bytes.toString('utf8')) as unknown);
  };
  const seen = async (tag: 'safe' | 'finalized'): Promise<number | null> => {
    if (tag === 'safe') {
      if (safe === undefined || clock.elapsed() - safe.at >= everyMs) {
        safe = { number: askSafe().catch(() => null), at: clock.elapsed() };
      }
      return safe.number;
    }
    const numbers = nodes.flatMap(({ excluded, tagged }) => (excluded || tagged === null ? [] : tagged));
    return numbers.length === 0 ? null : Math.max(...numbers);
  };
  return async (tag) => {
    if (network.family !== 'evm' || !network.finality.tag) return null;
    const [number] = await Promise.all([seen(tag), told.refresh()]);
    const tip = newestKnown();
    // One above the newest block is of a chain that was reset.
    const counts = (one: number | null): one is number => one !== null && (tip === null || one <= tip);
    if (counts(number)) await told.raise(tag, number);
    const known = told.known(tag);
    if (!counts(known)) return counts(number) ? number : null;
    return counts(number) && number > known ? number : known;
  };
}
