import { proofFailed } from './failures.js';
import type { ProvedBlock } from './proved-block.js';

/**
 * Checks that `block` follows `previous`: the next number, and its hash as parentHash.
 *
 * @throws PROOF_FAILED with proof `parentLink`; `data.field` is `number` or `parentHash`
 */
export function checkParentLink(
  previous: Pick<ProvedBlock, 'number' | 'hash'>,
  block: Pick<ProvedBlock, 'number' | 'parentHash'>,
): void {
  const failed = (field: string, expected: string, got: string, message: string) =>
    proofFailed({ block: block.number, proof: 'parentLink', field, expected, got, message });
  if (block.number !== previous.number + 1) {
    const [expected, got] = [String(previous.number + 1), String(block.number)];
    throw failed('number', expected, got, `it does not follow block ${previous.number}.`);
  }
  if (block.parentHash !== previous.hash) {
    const { parentHash } = block;
    const message = `its parentHash is ${parentHash}, but block ${previous.number} is ${previous.hash}.`;
    throw failed('parentHash', previous.hash, parentHash, message);
  }
}
