import type { Network } from '@packhouse/networks';
import { CallController, type Clock } from '@packhouse/runtime';
import { SAFE_REQUEST } from '../../upstream/node-requests.js';
import type { ForwardAnswer, ForwardRequest } from '../send/forward-request.js';
import type { ForwardUpstream } from '../send/forward-upstream.js';
import type { AdvertisedTip } from './advertised-tip.js';
import { toForwardRequest } from './check-upstream.js';

/**
 * Creates the look-up of the blocks that `safe` and `finalized` stand for. A node's answer for such a block by its number
 * is the one for the tag, so that any node that has the block may answer, and the answer is never before an
 * earlier one. The watch asks for `finalized` anyway; `safe` is asked for when a client does, once in a poll interval.
 */
export function createTaggedBlocks(parts: {
  network: Network;
  nodes: readonly ForwardUpstream[];
  advertised: AdvertisedTip;
  clock: Pick<Clock, 'elapsed'>;
  newest(): number | null;
  ask(request: ForwardRequest): Promise<ForwardAnswer>;
}): (tag: 'safe' | 'finalized') => Promise<number | null> {
  const { advertised, ask, clock, network, newest, nodes } = parts;
  const everyMs = Math.min(network.pollIntervalMs, 5_000);
  let safe: { number: Promise<number | null>; at: number } | undefined;

  const askSafe = async (): Promise<number | null> => {
    const answer = await ask({ ...toForwardRequest(SAFE_REQUEST, new CallController()), block: 'tip' });
    if (answer.kind !== 'result') return null;
    return SAFE_REQUEST.read(JSON.parse(answer.body.bytes.toString('utf8')) as unknown);
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
    const [number] = await Promise.all([seen(tag), advertised.refresh()]);
    const tip = newest();
    // One above the newest block is of a chain that was reset.
    const counts = (one: number | null): one is number => one !== null && (tip === null || one <= tip);
    if (counts(number)) await advertised.raise(tag, number);
    const known = advertised.known(tag);
    if (!counts(known)) return counts(number) ? number : null;
    return counts(number) && number > known ? number : known;
  };
}
