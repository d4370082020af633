import { resizedBlock } from './block-size.js';
import { encodeHeader } from './header-hash.js';
import { dataBytes, keccak, toData, toQuantity } from './hex.js';
import type { RecordedBlock, RpcBlock } from './recorded-block.js';

/** Where a chain forks, by block number. */
interface Forks {
  /** From here on headers have the fields of Amsterdam. */
  amsterdam: number;
  /** From here on they also have `inventedRoot`, which no version knows. */
  invented: number;
  /** `appended`: the hash includes the field as it is; `hashed`: its hash, which nobody can guess. */
  as: 'appended' | 'hashed';
  /** What `inventedRoot` is; default: 32 bytes. */
  value?: unknown;
}

/** Gives a made chain other headers, and with them other hashes, of which every other proof holds. */
export function forkChain(chain: readonly RecordedBlock[], forks: Forks): RecordedBlock[] {
  let parentHash = chain[0]?.block.parentHash;
  return chain.map((recorded) => {
    const { number, receipts = [], traces = [], block: before } = structuredClone(recorded);
    const block: RpcBlock = { ...before, parentHash: parentHash as string, ...toFields(number, forks) };
    const extra = number < forks.invented ? [] : [inventedBytes(block, forks)];
    const header = encodeHeader(block, extra);
    block.hash = toData(keccak(header));
    block.size = toQuantity(resizedBlock(Number(before.size), header.length - encodeHeader(before).length));
    for (const one of [
      ...block.transactions,
      ...receipts,
      ...receipts.flatMap(({ logs }) => logs),
      ...traces,
    ]) {
      one.blockHash = block.hash;
    }
    parentHash = block.hash;
    return { number, block, receipts, traces };
  });
}

function toFields(number: number, { amsterdam, invented, value }: Forks): Record<string, unknown> {
  const word = (digits: string): string => `0x${digits.repeat(32)}`;
  const ofAmsterdam = {
    blobGasUsed: '0x0',
    excessBlobGas: '0x0',
    parentBeaconBlockRoot: word('0b'),
    requestsHash: word('0c'),
    blockAccessListHash: word('0d'),
    slotNumber: toQuantity(number),
  };
  return {
    ...(number < amsterdam ? {} : ofAmsterdam),
    ...(number < invented ? {} : { inventedRoot: value ?? word('0e') }),
  };
}

function inventedBytes({ inventedRoot }: RpcBlock, { as }: Forks): Uint8Array {
  const isBytes = typeof inventedRoot === 'string';
  const bytes = isBytes ? dataBytes(inventedRoot) : Buffer.from(JSON.stringify(inventedRoot));
  return as === 'appended' ? bytes : keccak(bytes);
}
