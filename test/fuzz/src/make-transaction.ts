import { secp256k1 } from '@noble/curves/secp256k1.js';
import type { Keccak } from '@packhouse/chain';
import { type Json, rlp, signedBytes, toData } from './encode.js';
import type { Random } from './random.js';

/** What a block's transactions depend on. */
export interface Setting {
  chainId: number;
  /** EIP-2718 types that its era has. */
  types: readonly number[];
  /** Whether its legacy transactions may name the chain that they were signed for (EIP-155). */
  protects: boolean;
  baseFee: bigint | undefined;
  /** Whether signatures are of their senders; otherwise they are random, which is quicker. */
  signs: boolean;
}

/** The accounts that sign; made once, because a public key takes a millisecond. */
const ACCOUNTS = [1n, 2n, 3n].map((key) => {
  const secret = Buffer.from(key.toString(16).padStart(64, '0'), 'hex');
  return { secret, publicKey: secp256k1.getPublicKey(secret, false).subarray(1) };
});

const hex = (value: bigint): string => `0x${value.toString(16)}`;

/** A transaction as nodes give it, without its place and hash. */
export function makeTransaction(random: Random, setting: Setting, keccak: Keccak): Json {
  const type = random.pick(setting.types);
  const account = random.pick(ACCOUNTS);
  const from = setting.signs ? toData(keccak.hash(account.publicKey).subarray(12)) : random.data(20);
  const creates = type !== 3 && type !== 4 && random.oneIn(5);
  const tx: Json = {
    from,
    gas: hex(21_000n + BigInt(random.int(1_000_000))),
    ...(type === 0x7e ? {} : { gasPrice: random.quantity(40) }),
    hash: '',
    input: getData(random),
    nonce: random.quantity(random.oneIn(4) ? 60 : 12),
    to: creates ? null : random.data(20),
    value: random.quantity(random.oneIn(3) ? 256 : 64),
    type: `0x${type.toString(16)}`,
  };
  if (type === 0x7e) return { ...tx, ...toDeposit(random) };
  if (type > 0) {
    tx.chainId = `0x${setting.chainId.toString(16)}`;
    tx.accessList = Array.from({ length: random.pick([0, 0, 0, 1, 2]) }, () => ({
      address: random.data(20),
      storageKeys: Array.from({ length: random.pick([0, 1, 2, 3]) }, () => random.data(32)),
    }));
  }
  if (type >= 2) {
    const tip = BigInt(random.quantity(36));
    tx.maxPriorityFeePerGas = hex(tip);
    tx.maxFeePerGas = hex((setting.baseFee ?? 0n) + BigInt(random.quantity(40)));
  }
  if (type === 3) {
    tx.maxFeePerBlobGas = random.quantity(40);
    tx.blobVersionedHashes = Array.from(
      { length: 1 + random.int(3) },
      () => `0x01${random.data(31).slice(2)}`,
    );
  }
  if (type === 4)
    tx.authorizationList = Array.from({ length: 1 + random.int(3) }, () => getAuthorization(random, setting));
  sign(random, tx, type, setting, account.secret, keccak);
  return tx;
}

const getData = (random: Random): string =>
  random.data(random.pick([0, 0, 1, 3, 4, 4, 36, 54, 55, 56, 57, 68, 100, 255, 256, random.int(300)]));

function toDeposit(random: Random): Json {
  return {
    sourceHash: random.data(32),
    ...random.pick([{}, { mint: random.quantity(80) }, { mint: '0x0' }]),
    ...random.pick([{}, { isSystemTx: true }, { isSystemTx: false }]),
    ...random.pick([{ gasPrice: '0x0', v: '0x0', r: '0x0', s: '0x0', yParity: '0x0' }, { gasPrice: '0x0' }]),
  };
}

function getAuthorization(random: Random, { chainId }: Setting): Json {
  return {
    chainId: random.pick(['0x0', `0x${chainId.toString(16)}`]),
    address: random.data(20),
    nonce: random.quantity(40),
    yParity: random.pick(['0x0', '0x1']),
    r: `0x${random.quantity(256).slice(2)}`,
    s: `0x${random.quantity(252).slice(2)}`,
  };
}

function sign(
  random: Random,
  tx: Json,
  type: number,
  { chainId, protects, signs }: Setting,
  secret: Uint8Array,
  keccak: Keccak,
): void {
  const isProtected = protects && random.oneIn(2);
  const bare = (parity: bigint) =>
    type > 0 ? parity : isProtected ? 35n + 2n * BigInt(chainId) + parity : 27n + parity;
  let parity = BigInt(random.int(2));
  tx.v = hex(bare(parity));
  tx.r = random.data(32).replace(/^0x0+/, '0x');
  tx.s = random.data(32).replace(/^0x0+/, '0x');
  if (signs) {
    const signed = secp256k1.sign(keccak.hash(signedBytes(tx)), secret, {
      prehash: false,
      format: 'recovered',
    });
    const signature = secp256k1.Signature.fromBytes(signed, 'recovered');
    parity = BigInt(signature.recovery!);
    Object.assign(tx, { v: hex(bare(parity)), r: hex(signature.r), s: hex(signature.s) });
  }
  if (type > 0) tx.yParity = tx.v;
  else if (isProtected && random.oneIn(2)) tx.chainId = `0x${chainId.toString(16)}`;
}

/** The address of the contract that an account creates with this nonce. */
export function createdAddress(from: unknown, nonce: unknown, keccak: Keccak): string {
  const sender = Buffer.from(String(from).slice(2), 'hex');
  return toData(keccak.hash(rlp([sender, BigInt(String(nonce))])).subarray(12));
}
