import { encodeHeader } from '../encode/encode-header.js';
import { equalsHex, toHex } from '../encode/keccak.js';
import { proofFailed } from '../failures.js';
import { type BlockInHand, disagree, type Tools } from './tools.js';

/** keccak(RLP([])): what a header without uncles commits to. */
const NO_UNCLES = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347';

/** Proves that the header has the hash it says. Gives the header's length in RLP. */
export function proveHeader(tools: Tools, block: BlockInHand): number {
  const { rlp, keccak } = tools;
  rlp.clear();
  encodeHeader(rlp, block.record);
  const header = rlp.item(0);
  const hash = keccak.hash(header);
  const expected = block.record.hash;
  if (!equalsHex(hash, expected)) {
    const got = toHex(hash);
    throw proofFailed({
      block: block.number,
      proof: 'headerHash',
      field: 'hash',
      expected,
      got,
      message: `its header hashes to ${got}, but the block is given as ${expected}.`,
    });
  }
  return header.length;
}

/** Checks the list of uncles as far as their hashes allow: it is empty exactly if the header says so. */
export function checkUncles(block: BlockInHand): void {
  const { uncles, sha3Uncles } = block.record;
  if ((uncles.length === 0) === (sha3Uncles === NO_UNCLES)) return;
  const expected = sha3Uncles === NO_UNCLES ? 'no uncles' : 'one or two uncles';
  disagree(block, 'uncles', `${uncles.length} uncles`, expected, `the header's sha3Uncles is ${sha3Uncles}`);
}
