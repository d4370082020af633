import { Common, Hardfork, Mainnet } from '@ethereumjs/common';
import { createAccount, createAddressFromString, hexToBytes, type KZG } from '@ethereumjs/util';
import { createVM, type VM } from '@ethereumjs/vm';
import { INNER, LOGGING, SCRIPTED, TOKENS } from './contracts.js';
import { createTracer, type Tracer } from './tracer.js';
import { createSenders, type Sender } from './transactions.js';

const ETHER = 10n ** 18n;

/** A chain's state, in which blocks are run one after the other. */
export interface World {
  common: Common;
  vm: VM;
  tracer: Tracer;
  senders: Sender[];
}

/** The state before the first block of a kind of its own: funded senders and contracts, and nothing else. */
export async function createWorld(at: { number: number; timestamp: number }): Promise<World> {
  const common = new Common({
    chain: Mainnet,
    hardfork: Hardfork.Chainstart,
    // the library wants to see it for blob transactions, though nothing here commits to blobs or opens them
    customCrypto: { kzg: {} as KZG },
  });
  common.setHardforkBy({ blockNumber: at.number, timestamp: at.timestamp });
  const vm = await createVM({ common });
  const senders = createSenders(12);
  for (const { address, nonce } of senders) {
    await vm.stateManager.putAccount(
      address,
      createAccount({ nonce: BigInt(nonce), balance: 10n ** 6n * ETHER }),
    );
  }
  for (const { address, code } of [...TOKENS, LOGGING, SCRIPTED, INNER]) {
    const place = createAddressFromString(address);
    await vm.stateManager.putAccount(place, createAccount({ nonce: 1n, balance: ETHER }));
    await vm.stateManager.putCode(place, hexToBytes(`0x${code}`));
  }
  return { common, vm, tracer: createTracer(vm), senders };
}

/** The state goes on under the rules of a later block. */
export function moveTo({ common }: World, at: { number: number; timestamp: number }): void {
  common.setHardforkBy({ blockNumber: at.number, timestamp: at.timestamp });
}
