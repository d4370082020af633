/*
 * Why a call or a creation failed, in one word for all nodes. The normal form is OpenEthereum's (ethcore-types,
 * trace_types/error.rs), with what erigon's trace_block adds to it (rpc/jsonrpc/trace_adhoc.go, parityTraceError):
 * a code deposit that fails is out of gas, its size limit included.
 */
const NAMES = [
  'Reverted',
  'Out of gas',
  'Bad jump destination',
  'Bad instruction',
  'Stack underflow',
  'Out of stack',
  'Out of bounds',
  'Mutable Call In Static Context',
  'Built-in failed',
  'Invalid code',
  'Contract address collision',
  'Nonce overflow',
  'Insufficient balance for transfer',
  'Max call depth exceeded',
] as const;
type TraceErrorName = (typeof NAMES)[number];

/** What the program of a node says instead. */
interface Wording {
  client: string;
  /** Where its source says so. */
  source: string;
  words: Readonly<Record<string, TraceErrorName>>;
  /** Of words that go on with numbers or a reason; the first one that fits counts. */
  beginnings?: Readonly<Record<string, TraceErrorName>>;
}

/** The words of each client, of all its trace methods. */
export const TRACE_ERROR_WORDINGS: readonly Wording[] = [
  {
    client: 'geth 1.10 to 1.17: callTracer, and flatCallTracer, which renames some with convertParityErrors',
    source:
      'core/vm/errors.go; eth/tracers/native/call_flat.go, parityErrorMapping; wrapped by core/vm/interpreter.go',
    words: {
      'execution reverted': 'Reverted',
      'out of gas': 'Out of gas',
      'contract creation code storage out of gas': 'Out of gas',
      'gas uint64 overflow': 'Out of gas',
      'max code size exceeded': 'Out of gas',
      'max initcode size exceeded': 'Out of gas',
      'invalid jump destination': 'Bad jump destination',
      'return data out of bounds': 'Out of bounds',
      'write protection': 'Mutable Call In Static Context',
      'precompiled failed': 'Built-in failed',
      'invalid input length': 'Built-in failed',
      'invalid code: must not begin with 0xef': 'Invalid code',
      'contract address collision': 'Contract address collision',
      'nonce uint64 overflow': 'Nonce overflow',
      'insufficient balance for transfer': 'Insufficient balance for transfer',
      'max call depth exceeded': 'Max call depth exceeded',
    },
    beginnings: {
      // Not for want of gas: what an instruction costs is counted where it is forbidden, since 1.16.
      'out of gas: write protection': 'Mutable Call In Static Context',
      'out of gas:': 'Out of gas',
      'max code size exceeded:': 'Out of gas',
      'max initcode size exceeded:': 'Out of gas',
      'invalid opcode:': 'Bad instruction',
      'stack underflow': 'Stack underflow',
      'stack limit reached': 'Out of stack',
    },
  },
  {
    client: 'reth and Anvil: all trace methods; what has no word of its own is named as revm names it',
    source: 'revm-inspectors, src/tracing/types.rs, as_error_msg; revm, InstructionResult',
    words: {
      'invalid opcode': 'Bad instruction',
      OpcodeNotFound: 'Bad instruction',
      InvalidFEOpcode: 'Bad instruction',
      NotActivated: 'Bad instruction',
      OutOfGas: 'Out of gas',
      MemoryOOG: 'Out of gas',
      MemoryLimitOOG: 'Out of gas',
      PrecompileOOG: 'Out of gas',
      InvalidOperandOOG: 'Out of gas',
      ReentrancySentryOOG: 'Out of gas',
      CreateContractSizeLimit: 'Out of gas',
      CreateInitCodeSizeLimit: 'Out of gas',
      InvalidJump: 'Bad jump destination',
      StackUnderflow: 'Stack underflow',
      StackOverflow: 'Out of stack',
      OutOfOffset: 'Out of bounds',
      StateChangeDuringStaticCall: 'Mutable Call In Static Context',
      CallNotAllowedInsideStatic: 'Mutable Call In Static Context',
      PrecompileError: 'Built-in failed',
      CreateContractStartingWithEF: 'Invalid code',
      CreateCollision: 'Contract address collision',
      NonceOverflow: 'Nonce overflow',
      OutOfFunds: 'Insufficient balance for transfer',
      CallTooDeep: 'Max call depth exceeded',
    },
  },
  {
    client: 'Nethermind: trace_block, whose "Error" stands for several, and stays',
    source: 'ParityLikeTxTracer.cs, GetErrorDescription',
    words: {
      'Stack overflow': 'Out of stack',
      'Access violation': 'Out of bounds',
      'Static call violation': 'Mutable Call In Static Context',
    },
  },
  {
    // It also says "max call depth exceeded" for a full stack, which cannot be told from a full depth.
    client: 'Nethermind: callTracer',
    source: 'EvmExceptionExtensions.cs, GetEvmExceptionDescription',
    words: { 'invalid instruction': 'Bad instruction', 'precompile error': 'Built-in failed' },
  },
  {
    client: 'Besu: all trace methods',
    source: 'evm/frame/ExceptionalHaltReason.java',
    words: {
      'Illegal state change': 'Mutable Call In Static Context',
      'Code is too large': 'Out of gas',
      'Code is invalid': 'Invalid code',
      'Precompile error': 'Built-in failed',
    },
  },
];

const KNOWN: ReadonlySet<string> = new Set(NAMES);
const WORDS: ReadonlyMap<string, string> = new Map(
  TRACE_ERROR_WORDINGS.flatMap(({ words }) => Object.entries(words)),
);
const BEGINNINGS = TRACE_ERROR_WORDINGS.flatMap(({ beginnings = {} }) => Object.entries(beginnings));

/** Addresses 0x01 to 0x11 (Frontier to Prague) and 0x0100 (RIP-7212). */
const BUILT_IN = /^0x0{36}(?:00(?:0[1-9a-f]|1[01])|0100)$/;

/** Whether a contract of Ethereum's protocol has this address, since its fork. */
export function isBuiltIn(address: unknown): boolean {
  return typeof address === 'string' && BUILT_IN.test(address);
}

/**
 * The normal form of an error that a trace of a call of `to`, or of a creation, has. Built-in contracts have words of their
 * own for what is wrong with their input (core/vm/contracts.go); every other unknown word stays as it is.
 */
export function normalizeTraceError(error: string, to: string | undefined): string {
  if (KNOWN.has(error)) return error;
  const name = WORDS.get(error) ?? BEGINNINGS.find(([beginning]) => error.startsWith(beginning))?.[1];
  return name ?? (isBuiltIn(to) ? 'Built-in failed' : error);
}

const ERROR_MEMBER = Buffer.from(',"error":"');

/** Whether every error in this canonical text of traces, which is ASCII, has its normal form. */
export function hasNormalErrors(traces: Buffer): boolean {
  // No string has these bytes inside: its quotes are escaped.
  for (let at = traces.indexOf(ERROR_MEMBER); at >= 0; at = traces.indexOf(ERROR_MEMBER, at)) {
    at += ERROR_MEMBER.length;
    if (!KNOWN.has(traces.toString('latin1', at, traces.indexOf(0x22, at)))) return false;
  }
  return true;
}
