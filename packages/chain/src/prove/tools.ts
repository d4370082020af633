import type { BloomMaker } from '../encode/bloom.js';
import type { Keccak } from '../encode/keccak.js';
import type { RlpBuffer } from '../encode/rlp-buffer.js';
import { proofFailed } from '../failures.js';
import type { Proof, ProofPolicy } from '../proved-block.js';
import type { BlockRecord } from '../read/block.js';
import type { Scratch } from '../read/hex.js';
import type { Reader } from '../read/reader.js';

/** What proving needs and keeps between blocks; one block at a time. */
export interface Tools {
  policy: ProofPolicy;
  keccak: Keccak;
  rlp: RlpBuffer;
  bloom: BloomMaker;
  scratch: Scratch;
}

/** The block that is being proved. */
export interface BlockInHand {
  number: number;
  record: BlockRecord;
  reader: Reader;
  /**
   * Ethereum's rules hold beyond what the roots need: sizes, prices, addresses of new contracts. Not where the
   * headers are only trusted: such a chain has rules of its own.
   */
  strict: boolean;
  /** Whether the block has OP-stack deposits, which bend some rules. */
  hasDeposits: boolean;
}

/** Throws PROOF_FAILED: `field` of a record is not what another part of the block says. */
export function disagree(
  block: BlockInHand,
  field: string,
  got: string | null | undefined,
  expected: string,
  because: string,
  proof: Proof = 'consistency',
): never {
  const shown = got ?? (got === null ? 'null' : 'nothing');
  throw proofFailed({
    block: block.number,
    proof,
    field,
    expected,
    got: shown,
    message: `${field} is ${shown}, expected ${expected}: ${because}.`,
  });
}
