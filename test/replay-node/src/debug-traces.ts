import type { RpcObject, RpcTrace } from './recorded-block.js';

/** geth's words for what parity calls otherwise (eth/tracers/native/call_flat.go has the table the other way round). */
const GETH_ERRORS: Readonly<Record<string, string>> = {
  Reverted: 'execution reverted',
  'Out of gas': 'out of gas',
  'Bad jump destination': 'invalid jump destination',
  'Bad instruction': 'invalid opcode: INVALID',
  'Out of bounds': 'return data out of bounds',
  'Out of stack': 'stack limit reached 1024 (1023)',
  'Stack underflow': 'stack underflow (0 <=> 1)',
  'Built-in failed': 'precompiled failed',
  'Mutable Call In Static Context': 'write protection',
};

/** The error of a trace as geth says it. */
export function gethError(parityError: string): string {
  return GETH_ERRORS[parityError] ?? parityError;
}

/** The traces of each transaction of a block, in order; rewards belong to none. */
export function tracesByTransaction(traces: readonly RpcTrace[]): RpcTrace[][] {
  const groups: RpcTrace[][] = [];
  let last: unknown;
  for (const trace of traces) {
    if (trace.transactionHash == null) continue;
    if (trace.transactionHash !== last || trace.traceAddress.length === 0) groups.push([]);
    last = trace.transactionHash;
    groups.at(-1)?.push(trace);
  }
  return groups;
}

/** The tree that geth's callTracer gives for the traces of one transaction. */
export function toCallFrame(traces: readonly RpcTrace[]): RpcObject {
  const frames = new Map<string, RpcObject & { calls?: RpcObject[] }>();
  for (const trace of traces) {
    const frame = ownFrame(trace);
    frames.set(trace.traceAddress.join(), frame);
    if (trace.traceAddress.length === 0) continue;
    const parent = frames.get(trace.traceAddress.slice(0, -1).join());
    if (parent === undefined) continue;
    parent.calls ??= [];
    parent.calls.push(frame);
  }
  return frames.get('') ?? {};
}

function ownFrame(trace: RpcTrace): RpcObject {
  const { action } = trace;
  if (trace.type === 'suicide' || trace.type === 'selfdestruct') {
    return {
      from: action.address,
      gas: '0x0',
      gasUsed: '0x0',
      to: action.refundAddress,
      input: '0x',
      value: action.balance,
      type: 'SELFDESTRUCT',
    };
  }
  const result = trace.result ?? {};
  const creation = trace.type === 'create';
  const output = creation ? result.code : result.output;
  const type = creation ? (action.creationMethod ?? 'create') : action.callType;
  const to = creation ? result.address : action.to;
  return {
    from: action.from,
    gas: action.gas,
    gasUsed: result.gasUsed ?? '0x0',
    ...(to === undefined ? {} : { to }),
    input: creation ? action.init : action.input,
    ...(output === undefined || output === '0x' ? {} : { output }),
    ...(trace.error === undefined ? {} : { error: gethError(trace.error) }),
    // A frame cannot give what its caller holds: geth writes no value for these two.
    ...(type === 'staticcall' || (type === 'delegatecall' && action.value === undefined)
      ? {}
      : { value: action.value }),
    type: String(type).toUpperCase(),
  };
}
