import { blockNeeded, blockParameter, invalidParams, isAbsent, isObject } from '../rpc/check-params.js';
import type { RangeTexts, RpcMethod } from '../rpc/method.js';

/**
 * Methods with effects: they send, sign, or change what a node has or does. They are sent once, since the next node, or the
 * same one again, would do it a second time. All others are reads.
 */
const EFFECTS: readonly { names: RegExp; source: string }[] = [
  {
    names: /^(admin|engine|personal|miner|clique|account|signer|perm|plugins)_/,
    source: 'geth, Besu: namespaces that control the node or its keys',
  },
  {
    names: /^(anvil|hardhat|evm|ganache|tenderly)_/,
    source: 'Anvil, Hardhat, Ganache, Tenderly: namespaces that control a development chain',
  },
  {
    names:
      /^([a-z0-9]+_)?(bundler_)?(batchSend|send|resend|submit|broadcast|publish|relay|distribute|sign|cancel|replace|discard|propose|vote|notify)(?=[A-Z_]|$)/,
    source:
      'execution-apis, MEV-Boost, EIP-4337, EIP-7966, conflux-rust, ckb: sending, signing, and taking back',
  },
  {
    names:
      /^([a-z0-9]+_)?(bundler_)?(set|reset|add|remove|delete|clear|insert|put|import|export|write|update|new|uninstall|subscribe|unsubscribe|start|stop|pause|resume|mine|generate|lock|unlock|free|freeze|compact|migrate|rewind|revert|truncate|resync|register|unregister|ban|connect|disconnect|load|prune)(?=[A-Z_]|$)/,
    source: 'geth debug_setHead; Nethermind debug_resetHead; Besu debug_resyncWorldState; ckb add_node, …',
  },
  {
    names:
      /^debug_(verbosity|vmodule|backtraceAt|sync|goTrace|chaindbCompact|\w+Profile|standardTrace\w+ToFile)$/,
    source: 'geth internal/debug, eth/tracers: they change the log or write files on the node',
  },
  {
    names: /_getFilter(Changes|Logs)$/,
    source: 'execution-apis: a poll takes what is new, and the filter is that of one node',
  },
  {
    names: /^(ping_peers|process_block_without_verify|jemalloc_profiling_dump)$/,
    source: 'ckb rpc/README.md',
  },
];

/** Whether a method may be asked twice. */
function isRead(method: string): boolean {
  return !EFFECTS.some(({ names }) => names.test(method));
}

/**
 * Look-ups: a node that lacks the block or transaction may say null, or that there is nothing in it. `block`: the first
 * parameter is a number, a tag or a hash.
 */
const LOOK_UPS: ReadonlyMap<string, 'block' | 'transaction'> = new Map([
  ['debug_getRawBlock', 'block'],
  ['debug_getRawHeader', 'block'],
  ['debug_getRawReceipts', 'block'],
  ['debug_getRawTransaction', 'transaction'],
  ['debug_traceBlockByHash', 'block'],
  ['debug_traceBlockByNumber', 'block'],
  ['debug_traceTransaction', 'transaction'],
  ['erigon_getBlockReceiptsByBlockHash', 'block'],
  ['erigon_getHeaderByHash', 'block'],
  ['erigon_getHeaderByNumber', 'block'],
  ['eth_getBlockAccessList', 'block'],
  ['eth_getHeaderByHash', 'block'],
  ['eth_getHeaderByNumber', 'block'],
  ['eth_getRawTransactionByHash', 'transaction'],
  ['ots_getBlockDetails', 'block'],
  ['ots_getBlockDetailsByHash', 'block'],
  ['parity_getBlockReceipts', 'block'],
  ['trace_block', 'block'],
  ['trace_get', 'transaction'],
  ['trace_replayBlockTransactions', 'block'],
  ['trace_replayTransaction', 'transaction'],
  ['trace_transaction', 'transaction'],
]);

/** Methods with a range that are passed on, with the first block of a range without one (Erigon, reth). */
const RANGES: ReadonlyMap<string, string> = new Map([
  ['trace_filter', 'earliest'],
  ['arbtrace_filter', 'earliest'],
  ['erigon_getLogs', 'latest'],
]);

/** The range in the first parameter. Throws the problem `params-invalid`, also for names that Go reads in any case. */
function readRange([filter]: readonly unknown[], begin: string): RangeTexts {
  if (!isObject(filter)) throw invalidParams('invalid argument 0: expected a filter object', 0);
  const { fromBlock, toBlock, ...rest } = filter;
  if (Object.keys(rest).some((name) => /^(from|to)block$/iu.test(name))) {
    throw invalidParams('invalid argument 0: expected "fromBlock" and "toBlock"', 0);
  }
  for (const block of [fromBlock, toBlock]) {
    const wrong = isAbsent(block) ? null : blockParameter(block);
    if (wrong !== null) throw invalidParams(`invalid argument 0: ${wrong}`, 0);
  }
  return { fromBlock: String(fromBlock ?? begin), toBlock: String(toBlock ?? 'latest') };
}

/** A method that `rpc.allow` adds: passed on as it is, its parameters not checked, its answers never kept. */
export function addedMethod(name: string): RpcMethod {
  const kind = LOOK_UPS.get(name);
  const begin = RANGES.get(name);
  return {
    name,
    cost: 1,
    passedOn: true,
    idempotent: isRead(name),
    crossCheck: kind && 'existence',
    getLogRange: begin === undefined ? undefined : (params) => readRange(params, begin),
    prepare: kind === 'block' ? ([block]) => ({ block: blockNeeded(block) }) : undefined,
  };
}
