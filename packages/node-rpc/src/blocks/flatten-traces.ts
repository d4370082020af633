import { isBuiltIn, normalizeTraceError } from '@packhouse/chain';

/** The block and transaction of a debug trace; debug answers do not contain them. */
interface TraceOwner {
  blockHash: string;
  blockNumber: number;
  transactionHash: string;
  transactionPosition: number;
}

/** A call frame as callTracer nests it (geth eth/tracers/native/call.go); no field is validated. */
type Frame = Partial<
  Record<
    'type' | 'from' | 'to' | 'value' | 'gas' | 'gasUsed' | 'input' | 'output' | 'error' | 'calls',
    unknown
  >
>;

type Trace = Record<string, unknown>;

/** What decides whether trace_block has an inner frame. */
interface Called {
  /** As callTracer and flatCallTracer name it, in any case. */
  kind: string;
  to: unknown;
  value: unknown;
  gasUsed: unknown;
  failed: boolean;
  isLeaf: boolean;
}

/**
 * Whether trace_block leaves this inner frame out: calls of built-in contracts that move no value (OpenEthereum,
 * ethcore/src/executive.rs; reth). What a delegatecall has as its value is its caller's, and moves nothing; erigon keeps it
 * all the same. geth's flatCallTracer left out those that move value too, so it is asked for all of them.
 *
 * Before its fork such an address is an empty account, whose call uses no gas and does not fail; a built-in one always
 * does one of them.
 */
function isLeftOut({ kind, to, value, gasUsed, failed, isLeaf }: Called): boolean {
  const moves = hasValue(value) && kind !== 'delegatecall';
  return isLeaf && !moves && isBuiltIn(to) && (failed || gasUsed !== '0x0');
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
 * What neither tracer tells stays different. The root's gas and gasUsed are the transaction's (with its intrinsic gas, after
 * refunds); trace_block has the call's own. Rewards of proof-of-work blocks are missing. Built-in contracts that only one
 * chain has are kept.
 */
export function flattenCallFrame(root: unknown, owner: TraceOwner): Trace[] {
  const traces: Trace[] = [];
  const walk = (frame: Frame, traceAddress: number[], inheritedValue: unknown): void => {
    const inner = innerFrames(frame).filter((child) => !isLeftOut(toCalled(child)));
    const value = frame.value ?? (frame.type === 'DELEGATECALL' ? inheritedValue : '0x0');
    traces.push({ ...describeFrame(frame, value), ...owner, subtraces: inner.length, traceAddress });
    for (const [index, child] of inner.entries()) walk(child, [...traceAddress, index], value);
  };
  walk(root as Frame, [], '0x0');
  return traces;
}

function toCalled(frame: Frame): Called {
  const { to, value, gasUsed } = frame;
  const isLeaf = innerFrames(frame).length === 0;
  return { kind: kindOf(frame), to, value, gasUsed, failed: hasError(frame.error), isLeaf };
}

/**
 * Converts one transaction of a flatCallTracer answer, asked with `includePrecompiles`, to the same. Traces that have not
 * its form stay as they are, for the prover.
 */
export function toTraceBlock(traces: readonly unknown[]): unknown[] {
  const kept = traces.some(isFlatLeftOut) ? leaveOut(traces) : traces;
  return kept.map((value) => {
    const trace = value as Trace | null;
    if (trace?.type === 'suicide' && trace.result === undefined) return { ...trace, result: null };
    if (!hasError(trace?.error)) return value;
    const { to } = (trace.action ?? {}) as { to?: string };
    return { ...trace, error: normalizeTraceError(trace.error, to) };
  });
}

/** Without calls of built-in contracts: those behind them move up. */
function leaveOut(traces: readonly unknown[]): unknown[] {
  /** By address: how many of its subtraces were left out. */
  const leftOut = new Map<string, number>();
  /** By address, as far as it is known. */
  const kept = new Map<string, Trace>();
  const result: unknown[] = [];
  for (const value of traces) {
    const { traceAddress: address } = (value ?? {}) as Trace;
    if (!Array.isArray(address)) result.push(value);
    else if (isFlatLeftOut(value)) {
      const parent = address.slice(0, -1).join();
      leftOut.set(parent, (leftOut.get(parent) ?? 0) + 1);
    } else {
      const trace: Trace = { ...(value as Trace), traceAddress: moveUp(address, leftOut) };
      kept.set(address.join(), trace);
      result.push(trace);
    }
  }
  for (const [address, count] of leftOut) {
    const parent = kept.get(address);
    if (typeof parent?.subtraces === 'number') parent.subtraces -= count;
  }
  return result;
}

function isFlatLeftOut(trace: unknown): boolean {
  const { action, result, error, subtraces, traceAddress } = (trace ?? {}) as Trace;
  const { callType, to, value } = (action ?? {}) as Trace;
  if (typeof callType !== 'string' || !Array.isArray(traceAddress) || traceAddress.length === 0) return false;
  const { gasUsed } = (result ?? {}) as Trace;
  return isLeftOut({ kind: callType, to, value, gasUsed, failed: hasError(error), isLeaf: subtraces === 0 });
}

/** The address without the siblings before it, and before its parents, that were left out. */
function moveUp(address: readonly unknown[], leftOut: ReadonlyMap<string, number>): unknown[] {
  return address.map((index, depth) => {
    const before = leftOut.get(address.slice(0, depth).join()) ?? 0;
    return typeof index === 'number' ? index - before : index;
  });
}

/** Whether a call or a creation is without its gas, as in frames of old tracers. */
export function lacksGas({ type, action }: Trace): boolean {
  return type !== 'suicide' && (action as Trace).gas === undefined;
}

function kindOf({ type }: Frame): string {
  return typeof type === 'string' ? type.toLowerCase() : '';
}

function hasError(error: unknown): error is string {
  return typeof error === 'string' && error !== '';
}

function describeFrame(frame: Frame, value: unknown): Trace {
  const kind = kindOf(frame);
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
  const type = creates ? 'create' : 'call';
  const { gasUsed, output = '0x' } = frame;
  if (!hasError(frame.error)) {
    const result = creates ? { address: frame.to, code: output, gasUsed } : { gasUsed, output };
    return { type, action, result };
  }
  const error = normalizeTraceError(frame.error, creates ? undefined : (frame.to as string));
  // The output of a revert is its reason: erigon, reth and flatCallTracer keep it, so it is kept here too.
  return error === 'Reverted' && gasUsed !== undefined
    ? { type, action, error, result: { gasUsed, output } }
    : { type, action, error };
}
