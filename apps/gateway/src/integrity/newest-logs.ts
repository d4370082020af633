import { createProver, type ProofPolicy, type Prover, toQuantity } from '@packhouse/chain';
import type { Lack, ResultBody } from '@packhouse/node-rpc';
import { getPieces } from '../rpc/ask-node.js';
import type { LogFilter } from '../rpc/log-filter.js';
import type { CallContext, NewestLogs } from '../rpc/method.js';
import { isHash } from './block-evidence.js';
import { mayHave } from './check-logs.js';
import type { GetHints } from './header-hints.js';

/** The newest blocks: a node may tell of them before it has their logs. */
const NEWEST_BLOCKS = 3;

/**
 * Compares what nodes say of the newest blocks, and that a single final block has no such logs, with the blooms in their
 * headers: where a bloom excludes the filter there are none.
 */
export function createNewestLogs(policy: ProofPolicy, getHints: GetHints): NewestLogs {
  let creating: Promise<Prover> | undefined;
  const getBlockLack = async (caller: CallContext, filter: LogFilter, at: string): Promise<Lack> => {
    const { logsBloom, transactions } = await getHints(caller, at);
    if (transactions === 0) return 'nothing';
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
      return (result) => {
        const missing = checked.filter((at) => !hasLogs(result, at));
        if (missing.length === 0) return 'nothing';
        return Promise.all(missing.map((at) => getBlockLack(caller, filter, at))).then(
          (lacks) =>
            lacks.find((lack) => lack === 'likely') ?? lacks.find((lack) => lack === 'unknown') ?? 'nothing',
        );
      };
    },
  };
}

/** The newest blocks of a range that are among the newest of the chain, and not final; or the only one, if it is final. */
function getNewest(
  { from, to }: { from: number; to: number },
  head: number | null,
  finalized: number | null,
): string[] {
  if (from === to && to <= (finalized ?? -1)) return [toQuantity(to)];
  if (head === null) return [];
  const first = Math.max(from, head - NEWEST_BLOCKS + 1, (finalized ?? -1) + 1);
  const last = Math.min(to, head);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => toQuantity(first + at));
}

/** Whether an answer has a log of a block: of a hash any, since it is about no other. */
function hasLogs(result: ResultBody, at: string): boolean {
  const pieces = getPieces(result);
  if (isHash(at)) return pieces.length > 1 || (pieces[0] as Buffer).length > 8;
  return pieces.some(
    (piece) => piece.includes(`"blockNumber":"${at}"`) || piece.includes(`"blockNumber": "${at}"`),
  );
}
