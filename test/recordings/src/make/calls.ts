import {
  EVENTS,
  INNER,
  LOGGING,
  METHODS,
  SCRIPTED,
  STEPS,
  TOKEN_CODE,
  TOKENS,
  toDyingCode,
  toInitCode,
} from './contracts.js';
import { type Dice, toMadeAddress, toMadeBytes } from './made-values.js';

type Hex = `0x${string}`;

/** What a transaction does. */
export interface Call {
  /** Absent: it creates a contract. */
  to?: Hex;
  value?: bigint;
  input: Hex;
  gas: number;
}

const word = (value: number | bigint | Hex): string => BigInt(value).toString(16).padStart(64, '0');

/** A step of the script contract. */
export interface Step {
  does: keyof typeof STEPS;
  /** The contract, the heir, the salt or the key. */
  target?: Hex;
  value?: bigint;
  /** Before Tangerine Whistle no call may be given more gas than there is. */
  gas?: number;
  payload?: Hex;
}

/** The input that makes the script contract do the steps. */
function toInput(steps: readonly Step[]): Hex {
  const texts = steps.map(({ does, target = '0x0', value = 0n, gas = 60_000, payload = '0x' }) => {
    const bytes = payload.slice(2);
    return [STEPS[does], target, value, gas, bytes.length / 2].map(word).join('') + bytes;
  });
  return `0x${texts.join('')}`;
}

/** A call of the script contract. */
export function script(gas: number, ...steps: Step[]): Call {
  return { to: SCRIPTED.address, input: toInput(steps), gas };
}

/** A step in which the script contract has the other one do steps. */
export function nested(gas: number, ...steps: Step[]): Step {
  return { does: 'call', target: INNER.address, gas, payload: toInput(steps) };
}

/** Calls that differ from each other by what the dice say. */
export interface Calls {
  pay(): Call;
  /** A payment with an input of so many bytes. */
  note(bytes: number): Call;
  transfer(): Call;
  approve(): Call;
  refused(): Call;
  /** A log of so many topics, with so many words of data. */
  log(topics: number, words: number): Call;
  /** Logs as tokens of ERC-721 and ERC-1155 write them. */
  transferOne(): Call;
  transferSingle(): Call;
  deploy(): Call;
  failedDeploy(): Call;
  /** Out of gas. */
  spin(): Call;
  /** As steps of the script contract. */
  transferStep(): Step;
  balanceStep(): Step;
  payStep(): Step;
  deployStep(does: 'create' | 'create2'): Step;
  diesAtBirth(does?: 'create' | 'create2'): Step;
}

export function createCalls(dice: Dice): Calls {
  const holder = (): Hex => toMadeAddress(`holder ${dice.below(40)}`);
  const token = (): Hex => dice.pick(TOKENS).address;
  const amount = (): bigint => BigInt(1 + dice.below(1_000_000)) * 10n ** BigInt(dice.below(16));
  const withWord = (selector: string, ...words: (bigint | Hex)[]): Hex =>
    `0x${selector}${words.map(word).join('')}`;
  const transferInput = (): Hex => withWord(METHODS.transfer, holder(), amount());
  const log = (topics: readonly Hex[], data: string): Call => ({
    to: LOGGING.address,
    input: `0x${word(topics.length)}${topics.map(word).join('')}${data}`,
    gas: 60_000,
  });
  return {
    pay: () => ({ to: holder(), value: amount(), input: '0x', gas: 21_000 }),
    note: (bytes) => ({
      to: holder(),
      value: amount(),
      input: toText(bytes, dice),
      gas: 30_000 + 80 * bytes,
    }),
    transfer: () => ({ to: token(), input: transferInput(), gas: 90_000 }),
    approve: () => ({
      to: token(),
      input: withWord(METHODS.approve, holder(), 2n ** 256n - 1n),
      gas: 60_000,
    }),
    refused: () => ({ to: token(), input: withWord(METHODS.transfer, '0x0', amount()), gas: 60_000 }),
    log: (topics, words) =>
      log(
        Array.from({ length: topics }, (_, at): Hex => `0x${toMadeBytes(`event ${at}`).toString('hex')}`),
        Array.from({ length: words }, () => word(amount())).join(''),
      ),
    transferOne: () => log([EVENTS.transfer, holder(), holder(), `0x${word(amount())}`], ''),
    transferSingle: () =>
      log([EVENTS.transferSingle, SCRIPTED.address, holder(), holder()], word(amount()) + word(amount())),
    deploy: () => ({ input: `0x${toInitCode(TOKEN_CODE)}`, gas: 400_000 }),
    // the designated invalid opcode, which no fork before Byzantium tells from a revert
    failedDeploy: () => ({ input: '0xfe', gas: 80_000 }),
    spin: () => script(50_000, { does: 'spin' }),
    transferStep: () => ({ does: 'call', target: token(), payload: transferInput() }),
    balanceStep: () => ({
      does: 'staticcall',
      target: token(),
      payload: withWord(METHODS.balanceOf, holder()),
    }),
    payStep: () => ({ does: 'call', target: holder(), value: BigInt(1 + dice.below(1_000)), gas: 30_000 }),
    deployStep: (does) => ({
      does,
      target: `0x${toMadeBytes(`salt ${dice.below(1_000_000)}`).toString('hex')}`,
      payload: `0x${toInitCode(TOKEN_CODE)}`,
    }),
    diesAtBirth: (does = 'create') => ({
      does,
      target: `0x${toMadeBytes(`salt ${dice.below(1_000_000)}`).toString('hex')}`,
      value: BigInt(dice.below(2) * 500),
      payload: `0x${toDyingCode(holder())}`,
    }),
  };
}

/** Input that compresses as well as that of real transactions does. */
function toText(bytes: number, dice: Dice): Hex {
  const words = ['packed', 'proved', 'pulled', 'bundle', 'header', 'receipt'];
  let text = '';
  while (text.length < bytes) text += `${dice.pick(words)} `;
  return `0x${Buffer.from(text.slice(0, bytes), 'latin1').toString('hex')}`;
}
