import {
  blockNeeded,
  blockOrHash,
  blockParameter,
  type Check,
  checkEach,
  flag,
  hash,
  invalidParams,
  isAbsent,
  isObject,
  nameBlock,
  quantity,
} from '../rpc/check-params.js';
import type { BlockList, Prepared, RangeTexts, RpcMethod } from '../rpc/method.js';

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

const TRACERS = ['callTracer', 'flatCallTracer', 'prestateTracer', '4byteTracer', 'noopTracer'];
const TRACE_TYPES = ['trace', 'stateDiff', 'vmTrace'];

/** A tracer by its name (go-ethereum, eth/tracers/native) with options that are true or false; any other text is a program. */
const tracer: Check = (value) => {
  if (value === undefined) return null;
  if (!isObject(value)) return 'no tracer';
  const { tracer: name, tracerConfig = {}, ...rest } = value;
  const isNative = TRACERS.includes(name as string) && Object.keys(rest).length === 0;
  const isPlain = isObject(tracerConfig) && Object.values(tracerConfig).every((each) => flag(each) === null);
  return isNative && isPlain ? null : 'a tracer with more than flags';
};
const traceTypes: Check = (value) =>
  Array.isArray(value) && value.every((each) => TRACE_TYPES.includes(each as string))
    ? null
    : 'no trace types';
const positions: Check = (value) =>
  Array.isArray(value) && checkEach(value, quantity, '') === null ? null : 'no positions';

interface LookUp {
  of: 'block' | 'transaction';
  more?: Check;
  list?: BlockList['of'];
}

/**
 * Look-ups: a node that lacks the block or transaction may say null, or that there is nothing in it. `block`: the first
 * parameter is a number, a tag or a hash. What follows it is not refused, but only where it passes the check is an error
 * the node's own, which has another one asked.
 */
const LOOK_UPS: ReadonlyMap<string, LookUp> = new Map<string, LookUp>([
  ['debug_getRawBlock', { of: 'block' }],
  ['debug_getRawHeader', { of: 'block' }],
  ['debug_getRawReceipts', { of: 'block', list: 'receipts' }],
  ['debug_getRawTransaction', { of: 'transaction' }],
  ['debug_traceBlockByHash', { of: 'block', more: tracer, list: 'traces' }],
  ['debug_traceBlockByNumber', { of: 'block', more: tracer, list: 'traces' }],
  ['debug_traceTransaction', { of: 'transaction', more: tracer }],
  ['erigon_getBlockReceiptsByBlockHash', { of: 'block', list: 'receipts' }],
  ['erigon_getHeaderByHash', { of: 'block' }],
  ['erigon_getHeaderByNumber', { of: 'block' }],
  ['eth_getBlockAccessList', { of: 'block' }],
  ['eth_getHeaderByHash', { of: 'block' }],
  ['eth_getHeaderByNumber', { of: 'block' }],
  ['eth_getRawTransactionByHash', { of: 'transaction' }],
  ['ots_getBlockDetails', { of: 'block' }],
  ['ots_getBlockDetailsByHash', { of: 'block' }],
  ['parity_getBlockReceipts', { of: 'block', list: 'receipts' }],
  ['trace_block', { of: 'block', list: 'traces-and-rewards' }],
  ['trace_get', { of: 'transaction', more: positions }],
  ['trace_replayBlockTransactions', { of: 'block', more: traceTypes, list: 'traces' }],
  ['trace_replayTransaction', { of: 'transaction', more: traceTypes }],
  ['trace_transaction', { of: 'transaction' }],
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

/** A method that `rpc.allow` adds: passed on as it is, no parameter of it refused, its answers never kept. */
export function addedMethod(name: string): RpcMethod {
  const lookUp = LOOK_UPS.get(name);
  const begin = RANGES.get(name);
  return {
    name,
    cost: 1,
    passedOn: true,
    idempotent: isRead(name),
    crossCheck: lookUp && 'existence',
    getLogRange: begin === undefined ? undefined : (params) => readRange(params, begin),
    prepare: lookUp && ((params) => prepareLookUp(lookUp, params)),
  };
}

function prepareLookUp({ list, more, of }: LookUp, params: readonly unknown[]): Prepared {
  const [first, second] = params;
  const checkFirst = of === 'block' ? blockOrHash : hash;
  const checkedRead =
    params.length <= (more === undefined ? 1 : 2) &&
    checkFirst(first) === null &&
    (more === undefined || more(second) === null);
  return {
    checkedRead,
    block: of === 'block' ? blockNeeded(first) : undefined,
    list: list && { of: list, block: nameBlock(first) },
  };
}
