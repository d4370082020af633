import { assemble } from './assemble.js';
import { toMadeAddress } from './made-values.js';

/** First topics of the events of tokens. */
export const EVENTS = {
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  approval: '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925',
  transferSingle: '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62',
} as const;

/** Selectors of the methods of tokens. */
export const METHODS = { transfer: 'a9059cbb', approve: '095ea7b3', balanceOf: '70a08231' } as const;

/** What a step of the script contract does, by the number that stands for it in the input. */
export const STEPS = {
  call: 1,
  callcode: 2,
  delegatecall: 3,
  staticcall: 4,
  create: 5,
  create2: 6,
  die: 7,
  revert: 8,
  store: 9,
  spin: 10,
  badJump: 11,
  invalid: 12,
} as const;

/** Words of a step before its payload: step, target, value, gas, length of the payload. */
const WORD = 32;
const STEP_BYTES = 5 * WORD;
/** Where payloads and returned words stand in the memory of the script contract. */
const PAYLOAD_AT = 64;

const loadWord = (depth: number, word: number): string => `DUP${depth} ${word * WORD} ADD CALLDATALOAD`;

/** The stack holds the place of the step in the input and the length of its payload, as at the start of each handler. */
function callWith(opcode: 'CALL' | 'CALLCODE' | 'DELEGATECALL' | 'STATICCALL'): string {
  const hasValue = opcode === 'CALL' || opcode === 'CALLCODE';
  return `
    ${WORD} 0 DUP3 ${PAYLOAD_AT} ${hasValue ? loadWord(6, 2) : ''}
    ${loadWord(hasValue ? 7 : 6, 1)}
    ${loadWord(hasValue ? 8 : 7, 3)}
    ${opcode} POP @next JUMP`;
}

const HANDLERS: Readonly<Record<keyof typeof STEPS, string>> = {
  call: callWith('CALL'),
  callcode: callWith('CALLCODE'),
  delegatecall: callWith('DELEGATECALL'),
  staticcall: callWith('STATICCALL'),
  create: `DUP1 ${PAYLOAD_AT} ${loadWord(4, 2)} CREATE 0 MSTORE @next JUMP`,
  create2: `${loadWord(2, 1)} DUP2 ${PAYLOAD_AT} ${loadWord(5, 2)} CREATE2 0 MSTORE @next JUMP`,
  die: `${loadWord(2, 1)} SELFDESTRUCT`,
  revert: `DUP1 ${PAYLOAD_AT} REVERT`,
  store: `${loadWord(2, 2)} DUP3 ${WORD} ADD CALLDATALOAD SSTORE @next JUMP`,
  spin: ':spinning @spinning JUMP',
  badJump: '0 JUMP',
  invalid: 'INVALID',
};

/** Does the steps of its input one after the other, whatever becomes of calls, and returns the last returned word. */
const SCRIPT = assemble(`
  0
  :loop
    DUP1 CALLDATASIZE GT ISZERO @end JUMPI
    DUP1 ${4 * WORD} ADD CALLDATALOAD
    DUP1 DUP3 ${STEP_BYTES} ADD ${PAYLOAD_AT} CALLDATACOPY
    DUP2 CALLDATALOAD
    ${Object.entries(STEPS)
      .map(([name, step]) => `DUP1 ${step} EQ @${name} JUMPI`)
      .join('\n')}
    INVALID
  ${Object.entries(HANDLERS)
    .map(([name, items]) => `:${name} POP ${items}`)
    .join('\n')}
  :next
    ADD ${STEP_BYTES} ADD @loop JUMP
  :end
    ${WORD} 0 RETURN`);

const onMethod = (name: keyof typeof METHODS): string => `DUP1 0x${METHODS[name]} EQ @${name} JUMPI`;
const RETURN_TRUE = `1 0 MSTORE ${WORD} 0 RETURN`;
/** Logs the second argument as data, with the caller and the first argument as topics. */
const logArguments = (event: string): string => `
  36 CALLDATALOAD 0 MSTORE
  4 CALLDATALOAD CALLER ${event}
  ${WORD} 0 LOG3`;

/**
 * Like a token of ERC-20 as seen from outside: transfer and approve log and return true, balanceOf answers what was last
 * received. It keeps no accounts, so no transfer fails but one to the zero address, which is reverted with a reason,
 * Error(string) of "refused". The selector is the input's first word divided by 2^224: shifts came with Constantinople.
 */
const TOKEN = assemble(`
    ${1n << 224n} 0 CALLDATALOAD DIV
    ${onMethod('transfer')}
    ${onMethod('approve')}
    ${onMethod('balanceOf')}
    @refuse JUMP
  :transfer
    4 CALLDATALOAD ISZERO @refuse JUMPI
    36 CALLDATALOAD 4 CALLDATALOAD SSTORE
    ${logArguments(EVENTS.transfer)}
    ${RETURN_TRUE}
  :approve
    ${logArguments(EVENTS.approval)}
    ${RETURN_TRUE}
  :balanceOf
    4 CALLDATALOAD SLOAD 0 MSTORE
    ${WORD} 0 RETURN
  :refuse
    ${0x08c379a0n << 224n} 0 MSTORE
    32 4 MSTORE
    7 36 MSTORE
    ${0x72656675736564n << 200n} 68 MSTORE
    100 0 REVERT`);

const COUNTS = [0, 1, 2, 3, 4];

/**
 * Logs with as many topics as the input's first word says: topics follow it, and then the data, which may be empty. It
 * begins with the place of the data, which is behind the first word and the topics.
 */
const LOGGER = assemble(`
  0 CALLDATALOAD 1 ADD ${WORD} MUL
  DUP1 CALLDATASIZE SUB
  DUP1 DUP3 0 CALLDATACOPY
  ${COUNTS.map((count) => `0 CALLDATALOAD ${count} EQ @log${count} JUMPI`).join('\n')}
  INVALID
  ${COUNTS.map((count) => {
    const topics = COUNTS.slice(1, count + 1).toReversed();
    const loads = topics.map((topic) => `${topic * WORD} CALLDATALOAD`);
    return `:log${count} ${loads.join(' ')} DUP${count + 1} 0 LOG${count} STOP`;
  }).join('\n')}`);

/** A contract that is there before the first made block. */
interface Contract {
  address: `0x${string}`;
  code: string;
}

export const TOKENS: readonly Contract[] = ['token a', 'token b', 'token c', 'token d'].map((name) => ({
  address: toMadeAddress(name),
  code: TOKEN,
}));
export const LOGGING: Contract = { address: toMadeAddress('logger'), code: LOGGER };
export const SCRIPTED: Contract = { address: toMadeAddress('script'), code: SCRIPT };
/** The same again, to be called from there. */
export const INNER: Contract = { address: toMadeAddress('inner script'), code: SCRIPT };
/** The code of a token, to be deployed. */
export const TOKEN_CODE = TOKEN;

/** Code that deploys other code. */
export function toInitCode(runtime: string): string {
  const size = runtime.length / 2;
  const code = (at: number): string => assemble(`${size} ${at} 0 CODECOPY ${size} 0 RETURN`);
  // its own length does not depend on the place that it names, below 256
  return `${code(code(0).length / 2)}${runtime}`;
}

/** Code that ends with a self-destruct while it creates. */
export function toDyingCode(heir: string): string {
  return assemble(`${BigInt(heir)} SELFDESTRUCT`);
}
