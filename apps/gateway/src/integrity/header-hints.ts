import { EMPTY_ROOT } from '@packhouse/chain';
import type { Clock } from '@packhouse/runtime';
import { createTtlCache } from '../cache/ttl-cache.js';
import { askWhole, parseBody } from '../rpc/ask-node.js';
import type { CallContext } from '../rpc/method.js';
import { isHash } from './block-evidence.js';

/** How long a header is kept, since its number may soon be that of another block; and how long a node may take to send it. */
const HEADER_MS = 2_000;
const MAX_HEADERS = 256;
const BLOOM = /^0x[0-9a-f]{512}$/i;

/** What a header says of the contents of its block. */
export interface HeaderHints {
  /** Null: it says nothing. */
  logsBloom: string | null;
  /** Null: unknown. */
  transactions: number | null;
  /** The root of the receipts is one of some, of none, or unknown. */
  receipts: 'some' | 'none' | 'unknown';
}

/** What is known of a block without a header. */
const NO_HINTS: HeaderHints = { logsBloom: null, transactions: null, receipts: 'unknown' };

/** The hints of a block by number or hash. Never rejects. */
export type GetHints = (caller: CallContext, at: string) => Promise<HeaderHints>;

/**
 * Creates the look-up of what headers say. A header is taken as a node sends it: a false one only has another node asked, or
 * none, or an empty list refused.
 */
export function createHeaderHints(clock: Pick<Clock, 'elapsed'>): GetHints {
  const recent = createTtlCache(clock, HEADER_MS, MAX_HEADERS);
  const fetchHints = async ({ address, key, network, signal }: CallContext, at: string) => {
    const answer = await askWhole(
      { address, key, network, signal },
      {
        method: isHash(at) ? 'eth_getBlockByHash' : 'eth_getBlockByNumber',
        params: JSON.stringify([at, false]),
        block: isHash(at) ? undefined : Number(at),
        timeoutMs: HEADER_MS,
      },
    );
    return answer.kind === 'error' ? NO_HINTS : readHints(parseBody(answer.body), at);
  };
  return (caller, at) => recent(at, () => fetchHints(caller, at)).catch(() => NO_HINTS);
}

/** On some networks every bloom or root is zero, which says nothing of a block with transactions. */
function readHints(block: unknown, at: string): HeaderHints {
  const { hash, logsBloom, number, receiptsRoot, transactions } = (block ?? {}) as Record<string, unknown>;
  const isOther = isHash(at)
    ? String(hash).toLowerCase() !== at.toLowerCase()
    : Number(number) !== Number(at);
  if (isOther) return NO_HINTS;
  const isBloom = typeof logsBloom === 'string' && BLOOM.test(logsBloom) && !/^0x0*$/.test(logsBloom);
  const hasRoot = isHash(receiptsRoot) && !/^0x0*$/.test(receiptsRoot);
  return {
    logsBloom: isBloom ? logsBloom : null,
    transactions: Array.isArray(transactions) ? transactions.length : null,
    receipts: !hasRoot ? 'unknown' : receiptsRoot === EMPTY_ROOT ? 'none' : 'some',
  };
}
