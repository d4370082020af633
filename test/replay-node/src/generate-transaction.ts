import { encodeTransaction, encodeUnsigned } from './encode-transaction.js';
import { dataBytes, keccak, quantityBytes, toData, toQuantity } from './hex.js';
import { type Key, NONCES, signingKeys, signMessage } from './keys.js';
import type { Random } from './random.js';
import type { RpcObject, RpcTransaction } from './recorded-block.js';
import { encodeRlp } from './rlp.js';
import { randomArguments, type SyntheticContract, type SyntheticWorld } from './synthetic-world.js';

/** The block that a transaction is made for. */
interface BlockPlace {
  chainId: number;
  number: string;
  baseFee: bigint;
}

/** What a generated transaction does; its receipt and traces follow from it. */
export interface GeneratedTransaction {
  transaction: RpcTransaction;
  kind: 'transfer' | 'call' | 'creation';
  fails: boolean;
  gasUsed: number;
  /** null if it creates none. */
  contractAddress: string | null;
}

/** A block's hash before it is known; it is filled in once the roots are. */
export const HASH_TO_COME = '';

/** Generates one transaction: a third plain transfers, the rest contract calls, now and then a creation or a failure. */
export function generateTransaction(
  random: Random,
  world: SyntheticWorld,
  place: BlockPlace,
  index: number,
): GeneratedTransaction {
  const draw = random.int(1000);
  const kind = draw < 280 ? 'transfer' : draw < 285 ? 'creation' : 'call';
  const fails = kind === 'call' && random.chance(0.07);
  const contract = random.zipf(world.contracts);
  const gasUsed = kind === 'transfer' ? 21_000 : 30_000 + random.geometric(90_000);
  const input =
    kind === 'transfer'
      ? '0x'
      : kind === 'creation'
        ? `0x6080604052${random.hex(1500 + random.int(3000))}`
        : callData(random, world, contract);
  const sender = random.zipf(signingKeys());
  const unsigned = {
    blockHash: HASH_TO_COME,
    blockNumber: place.number,
    from: sender.address,
    gas: toQuantity(kind === 'transfer' ? 21_000 : gasUsed + random.int(100_000)),
    ...fees(random, place.baseFee),
    hash: '',
    input,
    nonce: toQuantity(random.geometric(3000)),
    to: kind === 'creation' ? null : kind === 'transfer' ? random.zipf(world.accounts) : contract.address,
    transactionIndex: toQuantity(index),
    value: kind === 'transfer' || random.chance(0.15) ? toQuantity(BigInt(`0x1${random.hex(7)}`)) : '0x0',
  };
  const transaction = sign(random, sender, place.chainId, unsigned);
  const { from, nonce } = transaction;
  const contractAddress = kind === 'creation' ? createdAddress(from, nonce) : null;
  return { transaction, kind, fails, gasUsed, contractAddress };
}

/** Most calls carry two words, some a page, very few a whole document: as on mainnet. */
function callData(random: Random, world: SyntheticWorld, contract: SyntheticContract): string {
  const draw = random.int(100);
  const words =
    draw < 62 ? 1 + random.int(3) : draw < 97 ? 3 + random.geometric(20) : 60 + random.geometric(600);
  const dense = words < 60 ? 0.15 : 0.65;
  return `0x${random.pick(contract.selectors)}${randomArguments(random, world, words, dense)}`;
}

function fees(random: Random, baseFee: bigint): Record<string, unknown> {
  const tip = BigInt(random.int(50) + 1) * 100_000_000n;
  if (random.chance(0.12)) return { gasPrice: toQuantity(baseFee + tip), type: '0x0' };
  const gasPrice = toQuantity(baseFee + tip);
  if (random.chance(0.01)) return { gasPrice, type: '0x1' };
  return {
    gasPrice,
    maxFeePerGas: toQuantity(baseFee * 2n + tip),
    maxPriorityFeePerGas: toQuantity(tip),
    type: '0x2',
  };
}

function sign(random: Random, key: Key, chainId: number, fields: RpcObject): RpcTransaction {
  const typed = fields.type !== '0x0';
  const unsigned = {
    ...fields,
    ...(typed ? { accessList: fields.type === '0x1' ? [accessEntry(random)] : [] } : {}),
    chainId: toQuantity(chainId),
  };
  const message = keccak(encodeUnsigned(unsigned) as Buffer);
  const { r, s, parity } = signMessage(message, key, random.int(NONCES));
  const transaction = {
    ...unsigned,
    v: toQuantity(typed ? parity : 35 + 2 * chainId + parity),
    ...(typed ? { yParity: toQuantity(parity) } : {}),
    r: toQuantity(r),
    s: toQuantity(s),
  };
  return { ...transaction, hash: toData(keccak(encodeTransaction(transaction) as Buffer)) };
}

function accessEntry(random: Random): { address: string; storageKeys: string[] } {
  return { address: `0x${random.hex(20)}`, storageKeys: [`0x${random.hex(32)}`, `0x${'0'.repeat(63)}1`] };
}

/** Address of a contract that a transaction creates (Yellow Paper 7): the end of keccak(RLP([sender, nonce])). */
function createdAddress(from: unknown, nonce: unknown): string {
  return toData(keccak(encodeRlp([dataBytes(from), quantityBytes(nonce)])).subarray(12));
}
