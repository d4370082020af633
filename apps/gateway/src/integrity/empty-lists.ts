import type { Forwarder, Lack } from '@packhouse/node-rpc';
import { getPieces } from '../rpc/ask-node.js';
import type { BlockList, EmptyLists } from '../rpc/method.js';
import { isHash, isNumber } from './block-evidence.js';
import type { GetHints, HeaderHints } from './header-hints.js';

/**
 * Compares an empty list about a final block, or one by its hash, with the header: a node that has deleted receipts, or lost
 * them, may say that there are none. An empty list is rare, and costs one question.
 */
export function createEmptyLists(
  getHints: GetHints,
  { finalized }: Pick<Forwarder, 'finalized'>,
): EmptyLists {
  return {
    getLack(caller, { block, of }) {
      const at = typeof block === 'string' ? block.toLowerCase() : undefined;
      if (at === undefined || !(isHash(at) || (isNumber(at) && Number(at) <= (finalized() ?? -1)))) {
        return undefined;
      }
      return (result) => {
        const [first] = getPieces(result) as [Buffer];
        // `[]`, with space in it or not.
        if (result.rest !== null || first.length > 8) return 'nothing';
        return getHints(caller, at).then((hints) => compare(hints, of));
      };
    },
  };
}

/** What an empty list lacks, by the header of its block. */
function compare({ receipts, transactions }: HeaderHints, of: BlockList['of']): Lack {
  if (transactions === null) return 'unknown';
  // Some chains have transactions without traces, and blocks whose transactions do not go into the root.
  if (transactions > 0) return of === 'receipts' && receipts === 'some' ? 'certain' : 'likely';
  return receipts === 'some' || of === 'traces-and-rewards' ? 'unknown' : 'nothing';
}
