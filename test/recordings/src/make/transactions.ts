import { Common, Hardfork, Mainnet } from '@ethereumjs/common';
import { createLegacyTx, createTx, type TypedTransaction } from '@ethereumjs/tx';
import {
  Address,
  eoaCode7702AuthorizationListBytesItemToJSON,
  eoaCode7702SignAuthorization,
  privateToAddress,
} from '@ethereumjs/util';
import type { Call } from './calls.js';
import { SCRIPTED, TOKENS } from './contracts.js';
import { createDice, type Dice, toMadeBytes, toMadeHash } from './made-values.js';

/** How a call is sent. */
export interface Send {
  call: Call;
  type: 0 | 1 | 2 | 3 | 4;
  /** Whether an access list names contracts and storage (types 1 to 4); default: it is empty. */
  listed?: boolean;
  /** Whether a legacy signature names no chain, as those before Spurious Dragon. */
  unprotected?: boolean;
  /** Number of blobs (type 3). */
  blobs?: number;
}

/** An account with a fixed test key. */
export interface Sender {
  key: Uint8Array;
  address: Address;
  /** That of its next transaction. */
  nonce: number;
}

export function createSenders(count: number): Sender[] {
  return Array.from({ length: count }, (_, at) => {
    const key = new Uint8Array(toMadeBytes(`key ${at}`));
    return { key, address: new Address(privateToAddress(key)), nonce: 3 + 41 * at };
  });
}

/** What decides the prices of a transaction. */
export interface Prices {
  /** Absent before London. */
  baseFee?: bigint;
  blobPrice?: bigint;
}

const GWEI = 10n ** 9n;

/** Signs what a sender sends; its nonce goes up by one. */
export function sign(send: Send, sender: Sender, common: Common, prices: Prices): TypedTransaction {
  const { call, type, unprotected = false } = send;
  const dice = createDice(`transaction ${sender.nonce} of ${sender.address}`);
  const data = {
    type,
    nonce: sender.nonce,
    // what lists and authorizations cost comes on top
    gasLimit: call.gas + (send.listed ? 12_000 : 0) + (type === 4 ? 50_000 : 0),
    value: call.value ?? 0n,
    data: call.input,
    ...(call.to === undefined ? {} : { to: call.to }),
    ...toPrices(type, prices, dice),
    ...(type === 0 ? {} : { chainId: 1, accessList: send.listed ? toAccessList(dice) : [] }),
    ...(type === 3
      ? { maxFeePerBlobGas: (prices.blobPrice ?? 1n) * 3n, blobVersionedHashes: toBlobHashes(send, dice) }
      : {}),
    ...(type === 4 ? { authorizationList: toAuthorizations(dice) } : {}),
  };
  sender.nonce += 1;
  if (!unprotected) return createTx(data, { common, freeze: false }).sign(sender.key);
  const old = new Common({ chain: Mainnet, hardfork: Hardfork.Homestead });
  return createLegacyTx(createLegacyTx(data, { common: old }).sign(sender.key).toJSON(), {
    common,
    freeze: false,
  });
}

function toPrices(type: number, { baseFee = 0n }: Prices, dice: Dice): object {
  const tip = BigInt(1 + dice.below(30)) * (GWEI / 10n);
  if (type < 2) return { gasPrice: baseFee + tip + (baseFee === 0n ? 40n * GWEI : 0n) };
  // now and then the most that is paid leaves less than the tip
  const room = dice.below(5) === 0 ? tip / 2n : baseFee + tip;
  return { maxPriorityFeePerGas: tip, maxFeePerGas: baseFee + (room < tip ? tip : room) };
}

function toAccessList(dice: Dice): object[] {
  const keys = (count: number) =>
    Array.from({ length: count }, () => toMadeHash(`slot ${dice.below(1_000)}`));
  return [
    { address: dice.pick(TOKENS).address, storageKeys: keys(1 + dice.below(3)) },
    { address: SCRIPTED.address, storageKeys: [] },
  ];
}

/** Versioned hashes of blobs that nobody made: their commitments are in no block. */
function toBlobHashes({ blobs = 1 }: Send, dice: Dice): string[] {
  return Array.from({ length: blobs }, () => `0x01${toMadeHash(`blob ${dice.below(1e9)}`).slice(4)}`);
}

/** Two authorizations: of this chain, and of any. */
function toAuthorizations(dice: Dice): object[] {
  return (['0x1', '0x0'] as const).map((chainId) => {
    const key = new Uint8Array(toMadeBytes(`authority ${dice.below(1_000_000)}`));
    const item = { chainId, address: SCRIPTED.address, nonce: '0x0' as const };
    return eoaCode7702AuthorizationListBytesItemToJSON(eoaCode7702SignAuthorization(item, key));
  });
}
