import { BloomMaker } from './encode/bloom.js';
import { createKeccak256 } from './encode/keccak.js';
import { createRecoverKey } from './encode/recover-key.js';
import { RlpBuffer } from './encode/rlp-buffer.js';
import { type BareBlock, proveBareBlock } from './prove/prove-bare-block.js';
import { type BlockAnswer, proveBlock } from './prove/prove-block.js';
import type { ProofPolicy, ProvedBlock } from './prove/proved-block.js';
import type { SignedChain, Tools } from './prove/tools.js';
import { createTraceProver, proveTraces, type TracedBlock, type TraceProver } from './prove/trace-prover.js';
import { Scratch } from './record/hex.js';
import type { LogRecord } from './record/log.js';
import { findRules } from './rules/find-rules.js';

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
  const keepExtras = policy.extraFields === 'keep';
  const traceProver = (block: TracedBlock) => createTraceProver(block, keepExtras, scratch);
  return {
    rules: tools.rules.name,
    proveBlock: (answer) => proveBlock(tools, answer),
    proveBareBlock: (block) => proveBareBlock(tools, block),
    bloomOf: (logs) => bloom.of(logs),
    proveTraces: (block, traces) => proveTraces(traceProver(block), block.number, traces),
    traceProver,
  };
}

function signedChain(chainId: number | undefined): SignedChain | undefined {
  if (chainId === undefined) return undefined;
  const hex = (value: number) => `0x${value.toString(16)}`;
  return { id: hex(chainId), v: [hex(2 * chainId + 35), hex(2 * chainId + 36)] };
}
