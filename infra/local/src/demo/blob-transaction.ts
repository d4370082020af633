/**
 * Takes the sidecar out of a signed blob transaction: what goes over the network is
 * `0x03 || rlp([transaction, blobs, commitments, proofs])`, what belongs into a block is
 * `0x03 || rlp(transaction)` (EIP-4844).
 *
 * Anvil 1.7 keeps the sidecar where it has one and then computes a transactionsRoot over the network form,
 * which no Ethereum node would accept.
 */
export function withoutSidecar(signed: string): string {
  const bytes = Buffer.from(signed.slice(2), 'hex');
  const outer = listAt(bytes, 1);
  const transaction = listAt(bytes, outer.start);
  return `0x03${bytes.toString('hex', outer.start, transaction.end)}`;
}

/** Where the payload of the RLP list at `at` starts and ends (Yellow Paper, appendix B). */
function listAt(bytes: Buffer, at: number): { start: number; end: number } {
  const first = bytes[at]!;
  if (first <= 0xf7) return { start: at + 1, end: at + 1 + first - 0xc0 };
  const lengthBytes = first - 0xf7;
  const start = at + 1 + lengthBytes;
  return { start, end: start + bytes.readUIntBE(at + 1, lengthBytes) };
}
