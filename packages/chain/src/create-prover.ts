import { BloomMaker } from './encode/bloom.js';
import { createKeccak256 } from './encode/keccak.js';
import { createRecoverKey } from './encode/recover-key.js';
import { RlpBuffer } from './encode/rlp-buffer.js';
import { type BareBlock, proveBareBlock } from './prove/prove-bare-block.js';
import { type BlockAnswer, proveBlock } from './prove/prove-block.js';
import { type DeclineReason, proveRaw, type RawBlock, type ScannedBlock } from './prove/prove-raw.js';
import type { ProofPolicy, ProvedBlock } from './prove/proved-block.js';
import type { SignedChain, Tools } from './prove/tools.js';
import { createTraceProver, proveTraces, type TracedBlock, type TraceProver } from './prove/trace-prover.js';
import { Scratch } from './record/hex.js';
import type { LogRecord } from './record/log.js';
import { findRules } from './rules/find-rules.js';
import { createScanner, type Scanner } from './scan/scanner.js';

/** Proves blocks of one network and returns their canonical texts; synchronous, one block at a time. */
export interface Prover {
  /** Name of the rule set. */
  readonly rules: string;
  /**
   * Proves a block and, if they are given, its receipts and logs.
   *
   * `proofs` lists exactly the proofs that passed. The caller adds `parentLink` after the comparison with the block
   * before, and `traces` after `proveTraces`.
   *
   * @throws RECORD_INVALID, PROOF_FAILED
   */
  proveBlock(answer: BlockAnswer): ProvedBlock;
  /**
   * Proves the header of a block whose transactions are hashes (the result of eth_getBlockByHash without transactions).
   *
   * @throws RECORD_INVALID, PROOF_FAILED
   */
  proveBareBlock(block: unknown): BareBlock;
  /** The bloom of logs in canonical form; its bytes are reused for the next. */
  bloomOf(logs: readonly Pick<LogRecord, 'address' | 'topics'>[]): Uint8Array;
  /**
   * Proves all traces of a proved block (the result of trace_block); returns their canonical array.
   *
   * @throws RECORD_INVALID, PROOF_FAILED
   */
  proveTraces(block: TracedBlock, traces: unknown): string;
  /**
   * Proves a block, its receipts and traces from the bytes of a node's answers, in a fraction of the time; or says why it
   * declines, and the block must be parsed and proved as above. Never throws, and never accepts what the others refuse.
   */
  proveRaw(raw: RawBlock): ScannedBlock | DeclineReason;
  /** As `proveTraces`, trace by trace; several blocks may be in progress at once. */
  traceProver(block: TracedBlock): TraceProver;
}

/** Creates a prover once the WebAssembly of the hash is ready; everything after that is synchronous. Throws SETTINGS_INVALID. */
export async function createProver(policy: ProofPolicy): Promise<Prover> {
  const keccak = await createKeccak256();
  const bloom = new BloomMaker(keccak);
  const scratch = new Scratch();
  const tools: Tools = {
    policy,
    rules: findRules(policy.chainId, policy.rules),
    chain: signedChain(policy.chainId),
    keccak,
    rlp: new RlpBuffer(),
    bloom,
    scratch,
    recoverKey: createRecoverKey(),
  };
  const scanner = tryScanner();
  const keepExtras = policy.extraFields === 'keep';
  const traceProver = (block: TracedBlock) => createTraceProver(block, keepExtras, scratch);
  return {
    rules: tools.rules.name,
    proveBlock: (answer) => proveBlock(tools, answer),
    proveBareBlock: (block) => proveBareBlock(tools, block),
    bloomOf: (logs) => bloom.of(logs),
    proveTraces: (block, traces) => proveTraces(traceProver(block), block.number, traces),
    proveRaw: (raw) => (scanner === null ? 'unavailable' : proveRaw(tools, scanner, raw)),
    traceProver,
  };
}

/** null where there is no WebAssembly with SIMD. */
function tryScanner(): Scanner | null {
  try {
    return createScanner();
  } catch {
    return null;
  }
}

function signedChain(chainId: number | undefined): SignedChain | undefined {
  if (chainId === undefined) return undefined;
  const hex = (value: number) => `0x${value.toString(16)}`;
  return { id: hex(chainId), v: [hex(2 * chainId + 35), hex(2 * chainId + 36)] };
}
