/** The block and transaction of a debug trace; debug answers do not contain them. */
interface TraceOwner {
  blockHash: string;
  blockNumber: number;
  transactionHash: string;
  transactionPosition: number;
}

/** A call frame as callTracer nests it (geth eth/tracers/native/call.go); no field is validated. */
interface Frame {
  type?: unknown;
  from?: unknown;
  to?: unknown;
  value?: unknown;
  gas?: unknown;
  gasUsed?: unknown;
  input?: unknown;
  output?: unknown;
  error?: unknown;
  calls?: unknown;
}

type Trace = Record<string, unknown>;

/** geth's error messages as OpenEthereum words them (geth eth/tracers/native/call_flat.go, parityErrorMapping). */
const ERRORS: Record<string, string> = {
  'contract creation code storage out of gas': 'Out of gas',
  'out of gas': 'Out of gas',
  'gas uint64 overflow': 'Out of gas',
  'max code size exceeded': 'Out of gas',
  'invalid jump destination': 'Bad jump destination',
  'execution reverted': 'Reverted',
  'return data out of bounds': 'Out of bounds',
  'stack limit reached 1024 (1023)': 'Out of stack',
  'precompiled failed': 'Built-in failed',
  'invalid input length': 'Built-in failed',
};

function parityError(error: string): string {
  if (error.startsWith('invalid opcode:')) return 'Bad instruction';
  if (error.startsWith('stack underflow')) return 'Stack underflow';
  return ERRORS[error] ?? error;
}

/** Addresses 0x01 to 0x11 (Frontier to Prague) and 0x0100 (RIP-7212). */
const PRECOMPILE = /^0x0{36}(?:00(?:0[1-9a-f]|1[01])|0100)$/;

/**
 * Whether trace_block leaves this inner frame out: calls of built-in contracts that move no value (OpenEthereum,
 * erigon, reth, and geth's flatCallTracer agree). Before its fork such an address is an empty account, whose call
 * uses no gas; a built-in one always does.
 */
function isLeftOut(frame: Frame): boolean {
  return (
    typeof frame.to === 'string' &&
    PRECOMPILE.test(frame.to) &&
    !hasValue(frame.value) &&
    frame.gasUsed !== '0x0' &&
    innerFrames(frame).length === 0
  );
}

function hasValue(value: unknown): boolean {
  return typeof value === 'string' && !/^0x0*$/.test(value);
}

function innerFrames(frame: Frame): Frame[] {
  return Array.isArray(frame.calls) ? (frame.calls as Frame[]) : [];
}

/**
 * Flattens one transaction of a callTracer answer into the shape of trace_block, parents before children.
 *
 * Two differences remain. The root's gas and gasUsed are the transaction's (with its intrinsic gas, after refunds);
 * trace_block has the call's own. Rewards of proof-of-work blocks are missing.
 */
export function flattenCallFrame(root: unknown, owner: TraceOwner): Trace[] {
  const traces: Trace[] = [];
  const walk = (frame: Frame, traceAddress: number[], inheritedValue: unknown): void => {
    const inner = innerFrames(frame).filter((child) => !isLeftOut(child));
    const value = frame.value ?? (frame.type === 'DELEGATECALL' ? inheritedValue : '0x0');
    traces.push({
      ...describeFrame(frame, value),
      blockHash: owner.blockHash,
      blockNumber: owner.blockNumber,
      subtraces: inner.length,
      traceAddress,
      transactionHash: owner.transactionHash,
      transactionPosition: owner.transactionPosition,
    });
    for (const [index, child] of inner.entries()) walk(child, [...traceAddress, index], value);
  };
  walk(root as Frame, [], '0x0');
  return traces;
}

/** Whether a call or a creation is without its gas, as in frames of old tracers. */
export function lacksGas({ type, action }: Trace): boolean {
  return type !== 'suicide' && (action as Trace).gas === undefined;
}

function describeFrame(frame: Frame, value: unknown): Trace {
  const kind = typeof frame.type === 'string' ? frame.type.toLowerCase() : '';
  if (kind === 'selfdestruct' || kind === 'suicide') {
    return {
      type: 'suicide',
      action: { address: frame.from, refundAddress: frame.to, balance: value },
      result: null,
    };
  }
  const creates = kind === 'create' || kind === 'create2';
  const action = creates
    ? { from: frame.from, gas: frame.gas, init: frame.input, value, creationMethod: kind }
    : { callType: kind, from: frame.from, to: frame.to, gas: frame.gas, input: frame.input, value };
  const result = creates
    ? { address: frame.to, code: frame.output ?? '0x', gasUsed: frame.gasUsed }
    : { gasUsed: frame.gasUsed, output: frame.output ?? '0x' };
  const type = creates ? 'create' : 'call';
  if (typeof frame.error !== 'string' || frame.error === '') return { type, action, result };
  const error = parityError(frame.error);
  // The output of a revert is its reason: erigon, reth and flatCallTracer keep it, so it is kept here too.
  return error === 'Reverted' && result.gasUsed !== undefined && (!creates || frame.to !== undefined)
    ? { type, action, error, result }
    : { type, action, error };
}
