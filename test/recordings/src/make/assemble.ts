import { Common, Mainnet } from '@ethereumjs/common';
import { getOpcodesForHF, paramsEVM } from '@ethereumjs/evm';

const { opcodes } = getOpcodesForHF(new Common({ chain: Mainnet, params: paramsEVM }));
const CODES: ReadonlyMap<string, number> = new Map(
  [...opcodes].map(([code, { fullName }]) => [fullName, code]),
);

/**
 * Bytecode as hex digits without `0x`, of words: an opcode, a number to push, `:name` for a place to jump to, `@name` to
 * push that place. Every fork runs it that knows its opcodes: numbers are pushed in as few bytes as they need, and zero
 * by PUSH1, as PUSH0 came with Shanghai.
 */
export function assemble(text: string): string {
  const words = text.trim().split(/\s+/);
  const places = new Map<string, number>();
  let size = 0;
  for (const word of words) {
    if (word.startsWith(':')) places.set(word.slice(1), size);
    size += toSize(word);
  }
  return words.map((word) => encode(word, places)).join('');
}

function toSize(word: string): number {
  if (isNumber(word)) return 1 + toDigits(word).length / 2;
  return word.startsWith('@') ? 3 : 1;
}

function encode(word: string, places: ReadonlyMap<string, number>): string {
  if (isNumber(word)) return `${toHex(0x5f + toDigits(word).length / 2, 2)}${toDigits(word)}`;
  if (word.startsWith('@')) return `61${toHex(places.get(word.slice(1)), 4)}`;
  return toHex(CODES.get(word.startsWith(':') ? 'JUMPDEST' : word), 2);
}

function isNumber(word: string): boolean {
  return /^\d/.test(word);
}

function toDigits(word: string): string {
  const digits = BigInt(word).toString(16);
  return digits.length % 2 === 0 ? digits : `0${digits}`;
}

function toHex(value: number | undefined, digits: number): string {
  if (value === undefined) throw new Error('the assembly has a word that is no opcode and no place');
  return value.toString(16).padStart(digits, '0');
}
