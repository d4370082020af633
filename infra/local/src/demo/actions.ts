import {
  addressWord,
  CONTRACTS,
  type ContractAddresses,
  callData,
  factoryData,
  ledgerData,
  routerData,
  STILLBORN,
  TROUBLES,
  troubleData,
  UNBORN,
  word,
} from './contracts.js';
import type { Random } from './random.js';
import type { Action } from './transaction.js';

/** Accounts and contracts that a block may use. */
export interface Cast {
  /** Senders of everything but blobs. */
  people: readonly string[];
  /** Sends blob transactions and nothing else, see block-miner.ts. */
  blobSender: string;
  contracts: ContractAddresses;
}

/** Makes an action of one sort; `unique` differs for every transaction of the chain. */
export type MakeAction = (cast: Cast, random: Random, from: string, unique: number) => Action;

/**
 * The sorts of actions with their weights in the history and in the live blocks after it.
 *
 * What adds accounts or slots is rare in live blocks: Anvil computes each state root from the whole state, so a growing
 * state makes every later block, and every restart, slower.
 */
export const ACTIONS: readonly { history: number; live: number; make: MakeAction }[] = [
  { history: 24, live: 28, make: payment },
  { history: 24, live: 30, make: tokenTransfer },
  { history: 6, live: 6, make: approval },
  { history: 10, live: 1, make: mintCollectible },
  { history: 3, live: 3, make: takeForeignCollectible },
  { history: 10, live: 14, make: swap },
  { history: 4, live: 1, make: nestedRoute },
  { history: 4, live: 5, make: survivedFailure },
  { history: 4, live: 0.5, make: create },
  { history: 3, live: 0.5, make: createThroughFactory },
  { history: 2, live: 3, make: createAndDestroy },
  { history: 2, live: 3, make: deposit },
  { history: 2, live: 2, make: closeVault },
  { history: 5, live: 3, make: writeLedger },
  { history: 3, live: 3, make: fail },
];

/** Ether from one account to another. */
export function payment({ people }: Cast, random: Random): Action {
  return { to: random.pick(people), value: BigInt(random.between(1, 1_000_000)) * 10n ** 9n, gas: 60_000 };
}

/** An ERC-20 transfer. */
export function tokenTransfer({ people, contracts }: Cast, random: Random): Action {
  const amount = random.between(1, 2 ** 30);
  return {
    to: random.pick([contracts.token, contracts.stablecoin]),
    input: callData('transfer', addressWord(random.pick(people)), word(amount)),
    gas: 120_000,
  };
}

function approval({ people, contracts }: Cast, random: Random): Action {
  const amount = random.below(2 ** 30);
  return {
    to: contracts.stablecoin,
    input: callData('approve', addressWord(random.pick(people)), word(amount)),
    gas: 120_000,
  };
}

function mintCollectible({ contracts }: Cast, _random: Random, from: string, unique: number): Action {
  return {
    to: contracts.collectible,
    input: callData('mint', addressWord(from), word(unique)),
    gas: 120_000,
  };
}

/** Usually reverts: the number belongs to nobody. */
function takeForeignCollectible({ contracts }: Cast, random: Random, from: string): Action {
  const number = random.between(1, 1_000_000);
  const input = callData('transferFrom', addressWord(contracts.router), addressWord(from), word(number));
  return { to: contracts.collectible, input, gas: 120_000 };
}

/** As an exchange does: two token transfers by allowance, and a look at both balances. */
function swap({ contracts }: Cast, random: Random, from: string): Action {
  const person = addressWord(from);
  const pool = addressWord(contracts.vault);
  const look = callData('balanceOf', person);
  const take = (): string => callData('transferFrom', person, pool, word(random.between(1, 2 ** 30)));
  const calls = [
    { kind: 'staticcall', to: contracts.token, data: look },
    { kind: 'must', to: contracts.token, data: take() },
    { kind: 'must', to: contracts.stablecoin, data: take() },
    { kind: 'staticcall', to: contracts.stablecoin, data: look },
  ] as const;
  return { to: contracts.router, input: routerData(calls), gas: 300_000 };
}

/** Calls of every kind, three deep, with ether, a precompiled contract and a collectible that changes its owner. */
function nestedRoute({ people, contracts }: Cast, random: Random, _from: string, unique: number): Action {
  const value = BigInt(random.between(1, 1_000));
  const { router, collectible } = contracts;
  const hand = callData('transferFrom', addressWord(router), addressWord(random.pick(people)), word(unique));
  const inner = routerData([
    { kind: 'call', to: random.pick(people), value, data: '0x' },
    { kind: 'must', to: collectible, data: callData('mint', addressWord(router), word(unique)) },
    { kind: 'must', to: collectible, data: hand },
  ]);
  const sha256 = `0x${'02'.padStart(40, '0')}`;
  const calls = [
    { kind: 'staticcall', to: sha256, data: `0x${random.hex(40)}` },
    { kind: 'call', to: router, value, data: inner },
    { kind: 'delegatecall', to: contracts.token, data: callData('mint', addressWord(router), word(unique)) },
    { kind: 'call', to: router, data: routerData([{ kind: 'delegatecall', to: router, data: '0x' }]) },
  ] as const;
  return { to: router, value, input: routerData(calls), gas: 500_000 };
}

/** Succeeds though some of its calls fail, with logs before and after them. */
function survivedFailure({ people, contracts }: Cast, random: Random, from: string): Action {
  const pay = (): string =>
    callData('transferFrom', addressWord(from), addressWord(random.pick(people)), word(random.below(1_000)));
  const calls = [
    { kind: 'call', to: contracts.token, data: pay() },
    { kind: 'call', to: contracts.trouble, data: troubleData(random.pick(['reason', 'silent', 'panic'])) },
    // The inner failure undoes the mint and its log.
    {
      kind: 'call',
      to: contracts.router,
      data: routerData([
        { kind: 'call', to: contracts.collectible, data: callData('mint', addressWord(from), word(0)) },
        { kind: 'must', to: contracts.trouble, data: troubleData('reason') },
      ]),
    },
    { kind: 'call', to: contracts.token, data: pay() },
  ] as const;
  return { to: contracts.router, input: routerData(calls), gas: 500_000 };
}

function create(_cast: Cast, random: Random): Action {
  return random.pick<Action>([
    { input: `0x${CONTRACTS.vault}`, value: 1n, gas: 300_000 },
    { input: `0x${CONTRACTS.trouble}`, gas: 500_000 },
    { input: `0x${CONTRACTS.token}`, gas: 900_000 },
    { input: `0x${STILLBORN}`, gas: 150_000 },
    { input: `0x${UNBORN}`, gas: 150_000 },
  ]);
}

function createThroughFactory({ contracts }: Cast, random: Random): Action {
  const code = random.pick([CONTRACTS.vault, CONTRACTS.collectible, UNBORN]);
  const mode = random.pick(['create', 'create2'] as const);
  return { to: contracts.factory, input: factoryData(mode, random.hex(32), code), gas: 900_000 };
}

function createAndDestroy({ contracts }: Cast, random: Random): Action {
  const input = factoryData('create2AndCall', random.hex(32), CONTRACTS.vault);
  return { to: contracts.factory, value: BigInt(random.between(1, 1_000)), input, gas: 300_000 };
}

function deposit({ contracts }: Cast, random: Random): Action {
  return { to: contracts.vault, value: BigInt(random.between(1, 10 ** 9)), input: '0x01', gas: 120_000 };
}

function closeVault({ contracts }: Cast): Action {
  return { to: contracts.vault, gas: 120_000 };
}

function writeLedger({ contracts }: Cast, random: Random): Action {
  const slots = random.between(1, 24);
  const value = random.below(4) === 0 ? 0 : random.between(1, 2 ** 30);
  return {
    to: contracts.ledger,
    input: ledgerData(slots, random.below(200), value),
    gas: 60_000 + 26_000 * slots,
  };
}

function fail({ contracts }: Cast, random: Random): Action {
  return { to: contracts.trouble, input: troubleData(random.pick(TROUBLES)), gas: 60_000 };
}
