import { EVMError, type EVMResult, type InterpreterStep, type Message } from '@ethereumjs/evm';
import { bytesToHex, createAddressFromBigInt } from '@ethereumjs/util';
import type { VM } from '@ethereumjs/vm';

/** A trace of trace_block without what says where it stands in the chain. */
export interface MadeTrace {
  type: 'call' | 'create' | 'suicide';
  action: Record<string, string>;
  result?: Record<string, string> | null;
  error?: string;
  subtraces: number;
  traceAddress: number[];
}

const { errorMessages } = EVMError;
/** Errors in the words of the nodes that have trace_block. */
const ERRORS: Readonly<Record<string, string>> = {
  [errorMessages.REVERT]: 'Reverted',
  [errorMessages.OUT_OF_GAS]: 'Out of gas',
  [errorMessages.CODESTORE_OUT_OF_GAS]: 'Out of gas',
  [errorMessages.INVALID_OPCODE]: 'Bad instruction',
  [errorMessages.INVALID_JUMP]: 'Bad jump destination',
  [errorMessages.STACK_UNDERFLOW]: 'Stack underflow',
  [errorMessages.STATIC_STATE_CHANGE]: 'Mutable Call In Static Context',
  [errorMessages.INSUFFICIENT_BALANCE]: 'Insufficient balance for transfer',
};

const toHex = (value: bigint): string => `0x${value.toString(16)}`;

/** Follows what a VM runs. */
export interface Tracer {
  /** The traces since the last time, as of one transaction. */
  take(): MadeTrace[];
}

/**
 * Writes down calls, creations and self-destructs while a VM runs, each when it begins, which is the order of
 * trace_block: a frame stands before those inside of it.
 */
export function createTracer(vm: VM): Tracer {
  let traces: MadeTrace[] = [];
  /** Frames that have not ended, the outermost first. */
  const open: MadeTrace[] = [];
  /** The last opcode, which says what kind of call begins. */
  let opcode = '';

  const begin = (trace: Pick<MadeTrace, 'type' | 'action'>): MadeTrace => {
    const parent = open.at(-1);
    const traceAddress = parent === undefined ? [] : [...parent.traceAddress, parent.subtraces];
    if (parent !== undefined) parent.subtraces += 1;
    const whole: MadeTrace = { ...trace, subtraces: 0, traceAddress };
    traces.push(whole);
    return whole;
  };

  vm.evm.events!.on('beforeMessage', (message: Message, resolve?: () => void) => {
    open.push(begin(message.to === undefined ? toCreate(message) : toCall(message, opcode)));
    resolve?.();
  });
  vm.evm.events!.on('afterMessage', (result: EVMResult, resolve?: () => void) => {
    end(open.pop()!, result);
    resolve?.();
  });
  vm.evm.events!.on('step', (step: InterpreterStep, resolve?: () => void) => {
    opcode = step.opcode.name;
    if (opcode !== 'SELFDESTRUCT') {
      resolve?.();
      return;
    }
    const heir = createAddressFromBigInt(step.stack.at(-1)! & ((1n << 160n) - 1n));
    const trace = begin({ type: 'suicide', action: { address: step.address.toString() } });
    trace.result = null;
    void vm.stateManager.getAccount(step.address).then((account) => {
      Object.assign(trace.action, {
        refundAddress: heir.toString(),
        balance: toHex(account?.balance ?? 0n),
      });
      resolve?.();
    });
  });

  return {
    take() {
      const taken = traces;
      traces = [];
      return taken;
    },
  };
}

function toCreate(message: Message): Pick<MadeTrace, 'type' | 'action'> {
  const { caller, gasLimit, data, value } = message;
  return {
    type: 'create',
    action: {
      from: caller.toString(),
      gas: toHex(gasLimit),
      init: bytesToHex(data),
      value: toHex(value),
    },
  };
}

/** A frame runs as itself what it delegates: it is `from`, and `to` is whose code runs. */
function toCall(message: Message, opcode: string): Pick<MadeTrace, 'type' | 'action'> {
  const isDelegated = message.depth > 0 && message.delegatecall;
  const callType = message.depth === 0 ? 'call' : opcode.toLowerCase();
  const isBorrowed = callType === 'delegatecall' || callType === 'callcode';
  return {
    type: 'call',
    action: {
      from: (isDelegated ? message.to! : message.caller).toString(),
      callType,
      gas: toHex(message.gasLimit),
      input: bytesToHex(message.data),
      to: (isBorrowed ? message.codeAddress : message.to!).toString(),
      value: toHex(message.value),
    },
  };
}

function end(trace: MadeTrace, { createdAddress, execResult }: EVMResult): void {
  const { exceptionError, executionGasUsed, returnValue } = execResult;
  if (exceptionError !== undefined) {
    // the library adds where a jump led
    const [word] = Object.keys(ERRORS).filter((each) => exceptionError.error.startsWith(each));
    trace.error = word === undefined ? exceptionError.error : ERRORS[word]!;
    return;
  }
  const gasUsed = toHex(executionGasUsed);
  const output = bytesToHex(returnValue);
  trace.result =
    trace.type === 'create'
      ? { address: createdAddress!.toString(), code: output, gasUsed }
      : { gasUsed, output };
}
