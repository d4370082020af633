import { ACTIONS, type Cast, type MakeAction, payment, tokenTransfer } from './actions.js';
import { addressWord, CONTRACTS, callData, TROUBLES, troubleData, word } from './contracts.js';
import { type Random, seededRandom } from './random.js';
import type { Action, TransactionType, TypedAction } from './transaction.js';

/** The first random block; the fixed blocks before it are described at `planBlock`. */
const FIRST_VARIED_BLOCK = 5;
const TOKENS_EACH = 10n ** 24n;
const ALLOWANCE = 10n ** 30n;

/**
 * The transactions of block `number`, in order: a pure function of the number, the cast and `historyBlocks`.
 *
 * Block 1 deploys the contracts, 2 mints tokens for everybody, 3 has one action of every sort, 4 is empty. Busy blocks
 * follow up to `historyBlocks`, then light ones: these are mined every few seconds, and again at each start.
 */
export function planBlock(number: number, cast: Cast, historyBlocks: number): TypedAction[] {
  const random = seededRandom(number);
  if (number === 2) return mintForAll(cast);
  if (number === 3) return showcase(cast, random);
  if (number < FIRST_VARIED_BLOCK) return [];
  const season = number <= historyBlocks ? 'history' : 'live';
  const count = season === 'history' ? historyCount(number, random) : liveCount(number, random);
  return Array.from({ length: count }, (_, index) => varied(cast, random, number * 1_000 + index, season));
}

/** Block 1: the creation of each contract by one account, in the order of CONTRACTS. */
export function planDeployment(deployer: string): TypedAction[] {
  return Object.values(CONTRACTS).map((code, index) => ({
    type: (index % 3) as TransactionType,
    from: deployer,
    input: `0x${code}`,
    gas: 1_000_000,
  }));
}

function historyCount(number: number, random: Random): number {
  if (number % 17 === 0) return 0;
  if (number % 60 === 0) return 100;
  return random.between(5, 30);
}

function liveCount(number: number, random: Random): number {
  return number % 9 === 0 ? 0 : random.between(1, 8);
}

function mintForAll({ people, contracts }: Cast): TypedAction[] {
  return people.flatMap((person) =>
    [contracts.token, contracts.stablecoin].flatMap((token): TypedAction[] => [
      {
        type: 2,
        from: person,
        to: token,
        input: callData('mint', addressWord(person), word(TOKENS_EACH)),
        gas: 120_000,
      },
      {
        type: 2,
        from: person,
        to: token,
        input: callData('approve', addressWord(contracts.router), word(ALLOWANCE)),
        gas: 120_000,
      },
    ]),
  );
}

/** Every action as type 2, then one transaction of each other type, then each failure. */
function showcase(cast: Cast, random: Random): TypedAction[] {
  const [person] = cast.people;
  const by = (type: TransactionType, action: Action): TypedAction => ({ ...action, type, from: person! });
  return [
    ...ACTIONS.map((action, index) => by(2, action.make(cast, random, person!, 3_000 + index))),
    by(0, payment(cast, random)),
    by(1, tokenTransfer(cast, random)),
    { ...payment(cast, random), type: 3, from: cast.blobSender },
    by(4, payment(cast, random)),
    ...TROUBLES.map((trouble) =>
      by(2, { to: cast.contracts.trouble, input: troubleData(trouble), gas: 60_000 }),
    ),
  ];
}

function varied(cast: Cast, random: Random, unique: number, season: 'history' | 'live'): TypedAction {
  const kind = random.below(100);
  if (kind < 2) return { ...payment(cast, random), type: 3, from: cast.blobSender };
  const from = random.pick(cast.people);
  const action = pickAction(random, season)(cast, random, from, unique);
  // EIP-7702: a set-code transaction cannot create. Each valid one leaves an account.
  if (kind < (season === 'history' ? 5 : 3) && action.to !== undefined) {
    return { ...action, gas: action.gas + 60_000, type: 4, from };
  }
  return { ...action, type: kind < 30 ? 0 : kind < 40 ? 1 : 2, from };
}

function pickAction(random: Random, season: 'history' | 'live'): MakeAction {
  let left = random.below(ACTIONS.reduce((sum, action) => sum + action[season], 0));
  for (const action of ACTIONS) {
    left -= action[season];
    if (left < 0) return action.make;
  }
  return payment;
}
