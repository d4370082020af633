import { SELECTORS } from './contracts.js';

/** A number as 32 bytes of hex, without `0x`. */
export function word(value: number | bigint): string {
  return value.toString(16).padStart(64, '0');
}

/** An address as 32 bytes of hex, without `0x`. */
export function addressWord(address: string): string {
  return address.slice(2).padStart(64, '0');
}

/** Call data of a function of the demo contracts; arguments are words. */
export function callData(name: keyof typeof SELECTORS, ...words: string[]): string {
  return `0x${SELECTORS[name]}${words.join('')}`;
}

/** One call of the router. */
export interface RoutedCall {
  /** `must` is a call that, if it fails, makes the router revert with the same data. */
  kind: 'call' | 'delegatecall' | 'staticcall' | 'must';
  to: string;
  value?: bigint;
  data: string;
}

const ROUTED_KINDS: Readonly<Record<RoutedCall['kind'], number>> = {
  call: 0,
  delegatecall: 1,
  staticcall: 2,
  must: 3,
};

/** Call data of the router, see contracts.ts. */
export function routerData(calls: readonly RoutedCall[]): string {
  const encoded = calls.map((call) => {
    const data = call.data.slice(2);
    return [
      ROUTED_KINDS[call.kind].toString(16).padStart(2, '0'),
      call.to.slice(2),
      (call.value ?? 0n).toString(16).padStart(32, '0'),
      (data.length / 2).toString(16).padStart(4, '0'),
      data,
    ].join('');
  });
  return `0x${encoded.join('')}`;
}

const FACTORY_MODES = { create: '00', create2: '01', create2AndCall: '02' } as const;

/** Call data of the factory, see contracts.ts; `salt` and `code` are hex without `0x`. */
export function factoryData(mode: keyof typeof FACTORY_MODES, salt: string, code: string): string {
  return `0x${FACTORY_MODES[mode]}${salt}${code}`;
}

const TROUBLES = { reason: 0, invalid: 1, outOfGas: 2, silent: 3, panic: 4, underflow: 5 } as const;

/** Ways to fail that the trouble contract knows. */
export type Trouble = keyof typeof TROUBLES;
export const TROUBLE_NAMES = Object.keys(TROUBLES) as Trouble[];

/** Call data of the trouble contract. */
export function troubleData(trouble: Trouble): string {
  return `0x0${TROUBLES[trouble]}`;
}

/** Call data of the ledger. */
export function ledgerData(slots: number, first: number, value: number): string {
  return `0x${word(slots)}${word(first)}${word(value)}`;
}
