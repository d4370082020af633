import { toQuantity } from '@packhouse/chain';
import type { Forwarder } from '@packhouse/node-rpc';

/**
 * The parameters with the numbers that `safe` and `finalized` stand for, as parameters and as `blockNumber` of one
 * (EIP-1898). A tag that no node knows stays, and the nodes answer for it.
 */
export async function pinTags(
  params: readonly unknown[],
  forwarder: Pick<Forwarder, 'sharedHead' | 'taggedBlock'>,
  /** So many nodes have to answer alike: `latest` is the newest block that as many have. */
  agree?: number,
): Promise<unknown[]> {
  const pin = async (value: unknown): Promise<unknown> => {
    if (value === 'latest' && agree !== undefined) {
      const head = forwarder.sharedHead(agree);
      return head === null ? value : toQuantity(head);
    }
    if (value !== 'safe' && value !== 'finalized') return value;
    const number = await forwarder.taggedBlock(value);
    return number === null ? value : toQuantity(number);
  };
  return Promise.all(
    params.map(async (param) => {
      if (typeof param !== 'object' || param === null || !('blockNumber' in param)) return pin(param);
      return { ...param, blockNumber: await pin(param.blockNumber) };
    }),
  );
}
