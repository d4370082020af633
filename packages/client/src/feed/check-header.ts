import { createProver, hasRules, type Prover } from '@packhouse/chain';
import type { JsonRecord } from '@packhouse/rows';
import { getOrAdd, isPackhouseError, PackhouseError } from '@packhouse/runtime';

/** Nothing but the header: the roots of what the block has take a hundred times as long. */
const HEADER_ONLY = {
  header: 'recompute',
  transactions: 'trust',
  receipts: 'trust',
  senders: 'off',
  extraFields: 'keep',
} as const;

const provers = new Map<number, Promise<Prover>>();

/**
 * Recomputes the hash of a block from its header. Only for chains whose rules this version has: those of others may hash
 * what it does not know. Throws FEED_INVALID.
 */
export async function checkHeader(block: JsonRecord, chainId: number): Promise<void> {
  if (!hasRules(chainId)) return;
  const prover = await getOrAdd(provers, chainId, () => createProver({ ...HEADER_ONLY, chainId }));
  const transactions = (block.transactions as JsonRecord[]).map(({ hash }) => hash);
  try {
    prover.proveBareBlock({ ...block, transactions });
  } catch (error) {
    if (!isPackhouseError(error)) throw error;
    throw new PackhouseError({
      code: 'FEED_INVALID',
      message: `The header of the new block ${Number(block.number)} does not hash to ${String(block.hash)}, by which the feed names it.`,
      hint: 'Nothing of it was delivered. Try a newer version of this program, which knows newer forks; else tell the operator of the gateway.',
      cause: error,
    });
  }
}
