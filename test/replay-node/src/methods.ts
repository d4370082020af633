import { type Answer, bufferText, failure, valueAnswer } from './answer.js';
import { BadParameter, blockParameter, hashParameter, required } from './block-parameter.js';
import { getLogs } from './get-logs.js';
import { toQuantity } from './hex.js';
import { type NodeCapabilities, type NodeState, visibleBlock, visiblePlace } from './node-state.js';
import type { AnswerPart } from './served-chain.js';

/** One JSON-RPC call. */
export interface RpcCall {
  id?: unknown;
  method: string;
  params: readonly unknown[];
}

interface Method {
  /** The capability it needs; any of several. */
  needs?: readonly (keyof NodeCapabilities)[];
  /** The number of the block that it is about, for faults; undefined for none. */
  block?: (state: NodeState, params: readonly unknown[]) => number | undefined;
  /** `number` is what `block` gave, unless a fault put another one there. */
  answer: (state: NodeState, params: readonly unknown[], number: number | undefined) => Answer;
}

const NULL = valueAnswer(null);

function partAnswer(state: NodeState, number: number | undefined, part: AnswerPart): Answer {
  const block = visibleBlock(state, number);
  if (block === undefined) return NULL;
  const text = block.text(part);
  return text === undefined
    ? failure(-32000, `block ${number} was recorded without what this method gives`)
    : { result: text };
}

const byParameter = (state: NodeState, params: readonly unknown[]): number | undefined =>
  blockParameter(state, params, 0);
const byHash = (state: NodeState, params: readonly unknown[]): number | undefined =>
  state.chain.toNumber(hashParameter(params, 0));
const byTransaction = (state: NodeState, params: readonly unknown[]): number | undefined =>
  visiblePlace(state, hashParameter(params, 0))?.number;

function getBlock(block: Method['block']): Method {
  return {
    ...(block === undefined ? {} : { block }),
    answer: (state, params, number) =>
      partAnswer(state, number, params[1] === true ? 'block' : 'blockWithHashes'),
  };
}

function getItem(part: AnswerPart, needs: Method['needs'] = []): Method {
  return {
    needs,
    block: byTransaction,
    answer(state, params) {
      const place = visiblePlace(state, hashParameter(params, 0));
      const item = visibleBlock(state, place?.number)?.item(part, place?.index ?? 0);
      return item === undefined ? NULL : { result: bufferText(item) };
    },
  };
}

function getTransactionAt(block: NonNullable<Method['block']>): Method {
  return {
    block,
    answer(state, params, number) {
      const index = Number(required(params, 1));
      const item = visibleBlock(state, number)?.item('block', index);
      return item === undefined ? NULL : { result: bufferText(item) };
    },
  };
}

function debugTrace(block: NonNullable<Method['block']>): Method {
  return {
    needs: ['debugFlat', 'debugCall'],
    block,
    answer(state, params, number) {
      const options = (params[1] ?? {}) as {
        tracer?: string;
        tracerConfig?: { convertParityErrors?: boolean };
      };
      const { debugFlat, debugCall } = state.capabilities;
      const part =
        options.tracer === 'callTracer' && debugCall
          ? 'debugCall'
          : options.tracer === 'flatCallTracer' && debugFlat
            ? options.tracerConfig?.convertParityErrors === true
              ? 'debugFlatParity'
              : 'debugFlat'
            : undefined;
      // geth takes a name it does not know for JavaScript.
      if (part === undefined)
        return failure(-32000, `ReferenceError: ${options.tracer} is not defined at <eval>:1:1(0)`);
      if (visibleBlock(state, number) === undefined)
        return failure(-32000, `block ${String(params[0])} not found`);
      return partAnswer(state, number, part);
    },
  };
}

const METHODS: Readonly<Record<string, Method>> = {
  eth_chainId: { answer: (state) => valueAnswer(toQuantity(state.chainId)) },
  net_version: { answer: (state) => valueAnswer(String(state.chainId)) },
  web3_clientVersion: { answer: () => valueAnswer('PackhouseReplay/0.1.0') },
  eth_syncing: { answer: () => valueAnswer(false) },
  eth_blockNumber: { answer: (state) => valueAnswer(toQuantity(state.head)) },
  eth_getBlockByNumber: getBlock(byParameter),
  eth_getBlockByHash: getBlock(byHash),
  eth_getBlockReceipts: {
    needs: ['receiptsByBlock'],
    block: byParameter,
    answer: (state, _, number) => partAnswer(state, number, 'receipts'),
  },
  eth_getTransactionReceipt: getItem('receipts', ['receiptsByTransaction']),
  eth_getTransactionByHash: getItem('block'),
  eth_getTransactionByBlockNumberAndIndex: getTransactionAt(byParameter),
  eth_getTransactionByBlockHashAndIndex: getTransactionAt(byHash),
  trace_block: {
    needs: ['traceBlock'],
    block: byParameter,
    answer: (state, _, number) => partAnswer(state, number, 'traces'),
  },
  debug_traceBlockByHash: debugTrace(byHash),
  debug_traceBlockByNumber: debugTrace(byParameter),
  eth_getLogs: { answer: (state, params) => valueAnswer(getLogs(state, params)) },
};

/** A call that was understood: the block it is about, and its answer, for that block or for another one. */
export interface PreparedCall {
  block: number | undefined;
  answer(block: number | undefined): Answer;
}

/** Reads a call's parameters; refusals are worded as geth words them (rpc/errors.go). */
export function prepareCall(state: NodeState, { method, params }: RpcCall): PreparedCall {
  const recorded = state.recorded(method, params);
  if (recorded !== undefined) return { block: undefined, answer: () => recorded };
  const found = state.hasBlocks && Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
  const offered =
    found?.needs === undefined ||
    found.needs.length === 0 ||
    found.needs.some((need) => state.capabilities[need]);
  if (found === undefined || !offered) {
    return refusal(failure(-32601, `the method ${method} does not exist/is not available`));
  }
  try {
    const block = found.block?.(state, params);
    return { block, answer: (number) => guarded(() => found.answer(state, params, number)) };
  } catch (error) {
    return refusal(badParameter(error));
  }
}

function refusal(answer: Answer): PreparedCall {
  return { block: undefined, answer: () => answer };
}

function guarded(answer: () => Answer): Answer {
  try {
    return answer();
  } catch (error) {
    return badParameter(error);
  }
}

function badParameter(error: unknown): Answer {
  if (error instanceof BadParameter) return failure(-32602, error.message);
  return failure(-32603, error instanceof Error ? error.message : String(error));
}
