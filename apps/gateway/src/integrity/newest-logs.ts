import { createProver, type ProofPolicy, type Prover, toQuantity } from '@packhouse/chain';
import type { Lack, ResultBody } from '@packhouse/node-rpc';
import type { Clock } from '@packhouse/runtime';
import { createTtlCache } from '../cache/ttl-cache.js';
import { askWhole, getPieces, parseBody } from '../rpc/ask-node.js';
import type { LogFilter } from '../rpc/log-filter.js';
import type { CallContext, NewestLogs } from '../rpc/method.js';
import { isHash } from './block-evidence.js';
import { mayHave } from './check-logs.js';

/** The newest blocks: a node may tell of them before it has their logs. */
const NEWEST_BLOCKS = 3;
/** How long a header is kept, since its number may soon be that of another block; and how long a node may take to send it. */
const HEADER_MS = 2_000;
const MAX_HEADERS = 256;
const BLOOM = /^0x[0-9a-f]{512}$/i;

/** What a header says of the logs of its block. */
interface LogHints {
  /** Null: it says nothing. */
  logsBloom: string | null;
  /** It has no transactions. */
  isEmpty: boolean;
}

/**
 * Compares what nodes say of the newest blocks with the blooms in their headers: where a bloom excludes the filter there
 * are no logs. The header is taken as a node sends it: a false one only has another node asked, or none.
 */
export function createNewestLogs(policy: ProofPolicy, clock: Pick<Clock, 'elapsed'>): NewestLogs {
  const recent = createTtlCache(clock, HEADER_MS, MAX_HEADERS);
  let creating: Promise<Prover> | undefined;

  const fetchHints = async (caller: CallContext, at: string): Promise<LogHints> => {
    const { address, key, network, signal } = caller;
    const answer = await askWhole(
      { address, key, network, signal },
      {
        method: isHash(at) ? 'eth_getBlockByHash' : 'eth_getBlockByNumber',
        params: JSON.stringify([at, false]),
        block: isHash(at) ? undefined : Number(at),
        timeoutMs: HEADER_MS,
      },
    );
    return answer.kind === 'error' ? NO_HINTS : readHints(parseBody(answer.body));
  };

  const getBlockLack = async (caller: CallContext, filter: LogFilter, at: string): Promise<Lack> => {
    const { isEmpty, logsBloom } = await recent(at, () => fetchHints(caller, at)).catch(() => NO_HINTS);
    if (isEmpty) return 'nothing';
    if (logsBloom === null) return 'unknown';
    creating ??= createProver(policy);
    return mayHave(logsBloom, filter, await creating) ? 'likely' : 'nothing';
  };

  return {
    getLack(caller, filter, blocks) {
      const { forwarder } = caller.network;
      const newest = forwarder.head();
      const checked =
        typeof blocks === 'string' ? [blocks] : getNewest(blocks, newest, forwarder.finalized());
      if (checked.length === 0) return undefined;
      return async (result) => {
        const missing = checked.filter((at) => !hasLogs(result, at));
        const lacks = await Promise.all(missing.map((at) => getBlockLack(caller, filter, at)));
        return (
          lacks.find((lack) => lack === 'likely') ?? lacks.find((lack) => lack === 'unknown') ?? 'nothing'
        );
      };
    },
  };
}

/** The newest blocks of a range that are among the newest of the chain, and not final. */
function getNewest(
  { from, to }: { from: number; to: number },
  head: number | null,
  finalized: number | null,
): string[] {
  if (head === null) return [];
  const first = Math.max(from, head - NEWEST_BLOCKS + 1, (finalized ?? -1) + 1);
  const last = Math.min(to, head);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => toQuantity(first + at));
}

const NO_HINTS: LogHints = { logsBloom: null, isEmpty: false };

/** On some networks every bloom is zero, which says nothing of a block with transactions. */
function readHints(block: unknown): LogHints {
  const { logsBloom, transactions } = (block ?? {}) as { logsBloom?: unknown; transactions?: unknown };
  const isBloom = typeof logsBloom === 'string' && BLOOM.test(logsBloom) && !/^0x0*$/.test(logsBloom);
  return {
    logsBloom: isBloom ? logsBloom : null,
    isEmpty: Array.isArray(transactions) && transactions.length === 0,
  };
}

/** Whether an answer has a log of a block: of a hash any, since it is about no other. */
function hasLogs(result: ResultBody, at: string): boolean {
  const pieces = getPieces(result);
  if (isHash(at)) return pieces.length > 1 || (pieces[0] as Buffer).length > 8;
  return pieces.some(
    (piece) => piece.includes(`"blockNumber":"${at}"`) || piece.includes(`"blockNumber": "${at}"`),
  );
}
