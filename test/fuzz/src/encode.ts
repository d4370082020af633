import { RLP } from '@ethereumjs/rlp';
import type { Keccak } from '@packhouse/chain';

/*
 * What a block commits to, written a second time: by another library's RLP, and with tries and blooms in the plainest way.
 * Neither the prover's encoders nor the scanner's take part, so a block made here is right only if all three agree.
 */

/** A JSON object that may be changed. */
export type Json = Record<string, unknown>;

/** A node's answers for one block. */
export interface Answer {
  block: Json & { transactions: Json[] };
  receipts: (Json & { logs: (Json & { topics: string[] })[] })[];
  traces: (Json & { action: Json })[];
}

type Item = Uint8Array | bigint | Item[];

const d = (hex: unknown): Uint8Array => Buffer.from(String(hex).slice(2), 'hex');
/** The number of a QUANTITY; 0 if it is none, for what is absent and for lies. */
export const toQuantity = (hex: unknown): bigint =>
  typeof hex === 'string' && /^0x[0-9a-fA-F]+$/.test(hex) ? BigInt(hex) : 0n;
const q = toQuantity;
const recipient = (to: unknown): Uint8Array => (to == null ? Buffer.alloc(0) : d(to));
/** RLP of nested lists of bytes and numbers. */
export const rlp = (item: Item): Uint8Array => RLP.encode(item as never);
/** DATA of these bytes. */
export const toData = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;

/** An envelope of EIP-2718; type 0 has none. */
const enveloped = (type: number, items: Item): Uint8Array =>
  type === 0 ? rlp(items) : Buffer.concat([Buffer.of(type), rlp(items)]);

const getType = ({ type }: Json): number => Number(type ?? 0);

/** What the sender of a transaction signs, before it is hashed. */
export function signedBytes(tx: Json): Uint8Array {
  const type = getType(tx);
  const v = q(tx.v);
  const items = toBody(tx);
  if (type === 0 && v >= 35n) items.push((v - 35n) >> 1n, 0n, 0n);
  return enveloped(type, items);
}

/** The leaf of a transaction in its trie. */
export function transactionBytes(tx: Json): Uint8Array {
  const type = getType(tx);
  if (type !== 0x7e) return enveloped(type, [...toBody(tx), q(tx.v ?? tx.yParity), q(tx.r), q(tx.s)]);
  return enveloped(type, [
    d(tx.sourceHash),
    d(tx.from),
    recipient(tx.to),
    q(tx.mint),
    q(tx.value),
    q(tx.gas),
    tx.isSystemTx === true ? 1n : 0n,
    d(tx.input),
  ]);
}

function toBody(tx: Json): Item[] {
  const type = getType(tx);
  const call = [q(tx.gas), recipient(tx.to), q(tx.value), d(tx.input)];
  if (type === 0) return [q(tx.nonce), q(tx.gasPrice), ...call];
  const prices = type === 1 ? [q(tx.gasPrice)] : [q(tx.maxPriorityFeePerGas), q(tx.maxFeePerGas)];
  const items: Item[] = [q(tx.chainId), q(tx.nonce), ...prices, ...call];
  const accesses = (tx.accessList ?? []) as { address: string; storageKeys?: string[] }[];
  items.push(accesses.map(({ address, storageKeys }) => [d(address), (storageKeys ?? []).map(d)]));
  if (type === 3) items.push(q(tx.maxFeePerBlobGas), ((tx.blobVersionedHashes ?? []) as string[]).map(d));
  if (type === 4) {
    const entries = (tx.authorizationList ?? []) as Json[];
    items.push(
      entries.map((of) => [
        q(of.chainId),
        d(of.address),
        q(of.nonce),
        q(of.yParity ?? of.v),
        q(of.r),
        q(of.s),
      ]),
    );
  }
  return items;
}

/** The leaf of a receipt in its trie. */
export function receiptBytes(receipt: Answer['receipts'][number], type: number): Uint8Array {
  const logs = receipt.logs.map(({ address, topics, data }) => [d(address), topics.map(d), d(data)]);
  const first = receipt.root === undefined ? q(receipt.status) : d(receipt.root);
  const items: Item[] = [first, q(receipt.cumulativeGasUsed), d(receipt.logsBloom), logs];
  if (type === 0x7e && receipt.depositReceiptVersion !== undefined)
    items.push(q(receipt.depositNonce), q(receipt.depositReceiptVersion));
  return enveloped(type, items);
}

/** The leaf of a withdrawal. */
export const withdrawalBytes = (of: Json): Uint8Array =>
  rlp([q(of.index), q(of.validatorIndex), d(of.address), q(of.amount)]);

const DATA_BEFORE = ['parentHash', 'sha3Uncles', 'miner', 'stateRoot', 'transactionsRoot', 'receiptsRoot'];
const NUMBERS = ['difficulty', 'number', 'gasLimit', 'gasUsed', 'timestamp'];
const FORKS: readonly (readonly [name: string, of: (hex: unknown) => Item])[] = [
  ['baseFeePerGas', q],
  ['withdrawalsRoot', d],
  ['blobGasUsed', q],
  ['excessBlobGas', q],
  ['parentBeaconBlockRoot', d],
  ['requestsHash', d],
  ['blockAccessListHash', d],
  ['slotNumber', q],
];

/** The header, whose keccak is the block's hash; `more` are fields of a fork that nobody knows. */
export function headerBytes(block: Json, more: readonly string[] = []): Uint8Array {
  return rlp([
    ...[...DATA_BEFORE, 'logsBloom'].map((name) => d(block[name])),
    ...NUMBERS.map((name) => q(block[name])),
    ...['extraData', 'mixHash', 'nonce'].map((name) => d(block[name])),
    ...FORKS.flatMap(([name, of]) => (block[name] == null ? [] : [of(block[name])])),
    ...more.map((name) => d(block[name])),
  ]);
}

/** Bytes of a whole block without uncles, for `size`. */
export function blockLength(block: Json & { transactions: Json[] }, header: Uint8Array): number {
  const withdrawals = block.withdrawals as Json[] | undefined;
  const bodies = block.transactions.map((tx) => {
    const bytes = transactionBytes(tx);
    // an envelope is a byte string in the block's list
    return getType(tx) === 0 ? bytes.length : rlp(bytes).length;
  });
  const lists = [bodies.reduce((sum, length) => sum + length, 0)];
  if (withdrawals !== undefined)
    lists.push(withdrawals.reduce((sum, one) => sum + withdrawalBytes(one).length, 0));
  const payload = header.length + 1 + lists.reduce((sum, length) => sum + headLength(length) + length, 0);
  return headLength(payload) + payload;
}

const headLength = (length: number): number =>
  length < 56 ? 1 : 1 + Math.ceil(length.toString(16).length / 2);

/** The root of the trie that has these leaves under the RLP of their places. */
export function trieRoot(leaves: readonly Uint8Array[], keccak: Keccak): string {
  if (leaves.length === 0) return toData(keccak.hash(Buffer.of(0x80)));
  const pairs = leaves.map((leaf, index) => ({
    path: [...Buffer.from(rlp(BigInt(index))).toString('hex')],
    leaf,
  }));
  return toData(keccak.hash(rlp(node(pairs, keccak))));
}

function node(pairs: readonly { path: string[]; leaf: Uint8Array }[], keccak: Keccak): Item[] {
  const [first] = pairs;
  if (pairs.length === 1) return [compact(first!.path, true), first!.leaf];
  let shared = 0;
  while (pairs.every(({ path }) => path[shared] === first!.path[shared])) shared++;
  const below = (digit: string) =>
    pairs
      .filter(({ path }) => path[shared] === digit)
      .map(({ path, leaf }) => ({ path: path.slice(shared + 1), leaf }));
  const branch: Item[] = [...'0123456789abcdef'].map((digit) => {
    const inside = below(digit);
    return inside.length === 0 ? Buffer.alloc(0) : reference(node(inside, keccak), keccak);
  });
  branch.push(Buffer.alloc(0));
  return shared === 0 ? branch : [compact(first!.path.slice(0, shared), false), reference(branch, keccak)];
}

/** A node of 32 bytes and more is referred to by its hash. */
function reference(item: Item[], keccak: Keccak): Item {
  const bytes = rlp(item);
  return bytes.length < 32 ? item : keccak.hash(bytes);
}

/** Hex-prefix encoding (Yellow Paper, appendix C). */
function compact(path: readonly string[], isLeaf: boolean): Uint8Array {
  const flag = (isLeaf ? 2 : 0) + (path.length % 2);
  return Buffer.from(`${flag}${path.length % 2 === 0 ? '0' : ''}${path.join('')}`, 'hex');
}

/** The bloom of these addresses and topics (Yellow Paper, 4.3.1): three bits each. */
export function getBloom(values: readonly string[], keccak: Keccak): Buffer {
  const bloom = Buffer.alloc(256);
  for (const value of values) {
    const hash = keccak.hash(d(value));
    for (const at of [0, 2, 4]) {
      const bit = ((hash[at]! << 8) | hash[at + 1]!) & 2047;
      bloom[255 - (bit >> 3)]! |= 1 << (bit & 7);
    }
  }
  return bloom;
}
