import { createScanner, type Scanner } from '@packhouse/kernels';
import { BloomMaker } from './encode/bloom.js';
import { createKeccak256 } from './encode/keccak.js';
import { createRecoverKey } from './encode/recover-key.js';
import { RlpBuffer } from './encode/rlp-buffer.js';
import { withWay } from './find-way.js';
import { type BareBlock, proveBareBlock } from './prove/prove-bare-block.js';
import { type BlockAnswer, proveBlock, type SenderOptions } from './prove/prove-block.js';
import { type DeclineReason, proveRaw, type RawBlock, type ScannedBlock } from './prove/prove-raw.js';
import { proveSenders } from './prove/prove-senders.js';
import type { Proof, ProofPolicy, ProvedBlock, SenderCheck } from './prove/proved-block.js';
import type { SignedChain, Tools } from './prove/tools.js';
import { createTraceProver, proveTraces, type TracedBlock, type TraceProver } from './prove/trace-prover.js';
import { Scratch, toQuantity } from './record/hex.js';
import type { LogRecord } from './record/log.js';
import { findRules } from './rules/find-rules.js';
import { getTables } from './scan/tables.js';

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
  proveBlock(answer: BlockAnswer, senders?: SenderOptions): ProvedBlock;
  /**
   * Proves the header of a block whose transactions are hashes (the result of eth_getBlockByHash without transactions).
   *
   * @throws RECORD_INVALID, PROOF_FAILED
   */
  proveBareBlock(block: unknown): BareBlock;
  /** The bloom of logs in canonical form; its bytes are reused for the next. */
  getBloom(logs: readonly Pick<LogRecord, 'address' | 'topics'>[]): Uint8Array;
  /**
   * Proves all traces of a proved block (the result of trace_block); returns their canonical array, in which failures have
   * their normal form. Those of a bundle (`published`) stay as they are.
   *
   * @throws RECORD_INVALID, PROOF_FAILED
   */
  proveTraces(block: TracedBlock, traces: unknown, options?: TraceOptions): string;
  /**
   * Proves a block, its receipts and traces from the bytes of a node's answers, in a fraction of the time; or says why it
   * declines, and the block must be parsed and proved as above. Never throws, and never accepts what the others refuse
   * once the senders that it leaves are proved.
   */
  proveRaw(raw: RawBlock, senders?: Pick<SenderOptions, 'suspected'>): ScannedBlock | DeclineReason;
  /**
   * Recovers the senders of a block that were put off; returns what that proves. Recoveries take nearly as long as all else
   * of a block: where blocks follow each other they are done in other threads (createSenderThreads).
   *
   * @throws PROOF_FAILED
   */
  proveSenders(block: number, senders: SenderCheck): readonly Proof[];
  /** As `proveTraces`, trace by trace; several blocks may be in progress at once. */
  traceProver(block: TracedBlock, options?: TraceOptions): TraceProver;
}

/** Where traces come from: a node, or a bundle. */
interface TraceOptions {
  published?: boolean;
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
  const traceProver = (block: TracedBlock, { published = false }: TraceOptions = {}) =>
    createTraceProver(block, { keepExtras, scratch, published });
  return {
    rules: tools.rules.name,
    proveBlock(answer, senders) {
      try {
        return proveBlock(tools, answer, senders);
      } catch (error) {
        throw withWay(tools, answer, error);
      }
    },
    proveBareBlock: (block) => proveBareBlock(tools, block),
    getBloom: (logs) => bloom.of(logs),
    proveSenders: (block, senders) => proveSenders(tools, block, senders),
    proveTraces: (block, traces, options) => proveTraces(traceProver(block, options), block.number, traces),
    proveRaw: (raw, { suspected } = {}) =>
      scanner === null ? 'unavailable' : proveRaw(tools, scanner, raw, suspected),
    traceProver,
  };
}

/** null where there is no WebAssembly with SIMD. */
function tryScanner(): Scanner | null {
  try {
    return createScanner(getTables());
  } catch {
    return null;
  }
}

function signedChain(chainId: number | undefined): SignedChain | undefined {
  if (chainId === undefined) return undefined;
  return { id: toQuantity(chainId), v: [toQuantity(2 * chainId + 35), toQuantity(2 * chainId + 36)] };
}
