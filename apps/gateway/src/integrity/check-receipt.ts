import type { BareBlock, Prover } from '@packhouse/chain';

/** A receipt as a node sent it; nothing is known of it. */
export interface Receipt {
  readonly [field: string]: unknown;
}

/**
 * Checks one receipt as far as it can be without the others of its block: it is about this transaction and block, its
 * bloom is that of its logs, and the header's bloom has it. Returns what is wrong.
 */
export function checkReceipt(
  prover: Pick<Prover, 'getBloom'>,
  receipt: Receipt,
  header: BareBlock,
  transaction: string,
): string | null {
  const { logs } = receipt;
  if (lower(receipt.transactionHash) !== transaction) return 'it belongs to another transaction';
  if (Number(receipt.blockNumber) !== header.number) {
    return `block ${header.hash} has the number ${header.number}, not ${String(receipt.blockNumber)}`;
  }
  if (!Array.isArray(logs)) return 'its logs are not a list';
  for (const log of logs as (Receipt | null)[]) {
    if (lower(log?.transactionHash) !== transaction) return 'a log belongs to another transaction';
    if (lower(log?.blockHash) !== header.hash) return 'a log belongs to another block';
  }
  if (header.logsBloom === null) return null;
  const canonical = logs.map(bloomParts);
  if (canonical.includes(null)) return 'a log has an invalid address or topics';
  const bloom = Buffer.from(prover.getBloom(canonical as BloomParts[]));
  if (lower(receipt.logsBloom) !== `0x${bloom.toString('hex')}`)
    return 'its logsBloom does not match its logs';
  if (!hasBits(header.logsBloom, bloom))
    return `the bloom of block ${header.number} does not include its logs`;
  return null;
}

interface BloomParts {
  address: string;
  topics: string[];
}

/** Address and topics of a log in canonical form; null if they are none. */
export function bloomParts(log: Receipt): BloomParts | null {
  const address = lower(log.address);
  if (!/^0x[0-9a-f]{40}$/.test(address) || !Array.isArray(log.topics)) return null;
  const topics = (log.topics as unknown[]).map(lower);
  return topics.length <= 4 && topics.every((topic) => /^0x[0-9a-f]{64}$/.test(topic))
    ? { address, topics }
    : null;
}

/** Whether a bloom, as DATA, has all bits of another. */
export function hasBits(bloom: string, bits: Uint8Array): boolean {
  const bytes = Buffer.from(bloom.slice(2), 'hex');
  return bits.every((byte, at) => (byte & ~(bytes[at] ?? 0)) === 0);
}

export function lower(value: unknown): string {
  return typeof value === 'string' ? value.toLowerCase() : '';
}
