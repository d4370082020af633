import { BadParameter, blockParameter, required } from './block-parameter.js';
import { type NodeState, visibleBlock } from './node-state.js';
import type { RpcLog, RpcReceipt } from './recorded-block.js';
import { readValue } from './served-chain.js';

interface LogFilter {
  fromBlock?: string;
  toBlock?: string;
  blockHash?: string;
  address?: string | string[];
  topics?: (string | string[] | null)[];
}

/** eth_getLogs: the logs that match a filter, read out of the receipts. */
export function getLogs(state: NodeState, params: readonly unknown[]): RpcLog[] {
  const filter = required(params, 0) as LogFilter;
  const bound = (value: string | undefined): number | undefined =>
    blockParameter(state, [value ?? 'latest'], 0);
  const only =
    filter.blockHash === undefined ? undefined : state.chain.toNumber(filter.blockHash.toLowerCase());
  if (filter.blockHash !== undefined && only === undefined) throw new BadParameter('unknown block');
  const from = only ?? bound(filter.fromBlock) ?? state.head;
  const to = only ?? bound(filter.toBlock) ?? state.head;
  const found: RpcLog[] = [];
  for (let number = from; number <= Math.min(to, state.head); number++) {
    const block = visibleBlock(state, number);
    const receipts =
      block === undefined ? undefined : (readValue(block, 'receipts') as RpcReceipt[] | undefined);
    for (const receipt of receipts ?? []) found.push(...receipt.logs.filter((log) => matches(log, filter)));
  }
  return found;
}

function matches(log: RpcLog, { address, topics = [] }: LogFilter): boolean {
  const oneOf = (wanted: string | string[] | null | undefined, value: string | undefined): boolean =>
    wanted == null ||
    (value !== undefined && [wanted].flat().some((one) => one.toLowerCase() === value.toLowerCase()));
  return oneOf(address, log.address) && topics.every((wanted, at) => oneOf(wanted, log.topics[at]));
}
