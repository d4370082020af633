/** Opcodes that the made contracts use, by name. */
const OPCODES = {
  STOP: 0x00,
  ADD: 0x01,
  MUL: 0x02,
  SUB: 0x03,
  DIV: 0x04,
  GT: 0x11,
  EQ: 0x14,
  ISZERO: 0x15,
  CALLER: 0x33,
  CALLDATALOAD: 0x35,
  CALLDATASIZE: 0x36,
  CALLDATACOPY: 0x37,
  CODECOPY: 0x39,
  POP: 0x50,
  MSTORE: 0x52,
  SLOAD: 0x54,
  SSTORE: 0x55,
  JUMP: 0x56,
  JUMPI: 0x57,
  JUMPDEST: 0x5b,
  DUP1: 0x80,
  DUP2: 0x81,
  DUP3: 0x82,
  DUP4: 0x83,
  DUP5: 0x84,
  DUP6: 0x85,
  DUP7: 0x86,
  DUP8: 0x87,
  LOG0: 0xa0,
  LOG1: 0xa1,
  LOG2: 0xa2,
  LOG3: 0xa3,
  LOG4: 0xa4,
  CREATE: 0xf0,
  CALL: 0xf1,
  CALLCODE: 0xf2,
  RETURN: 0xf3,
  DELEGATECALL: 0xf4,
  CREATE2: 0xf5,
  STATICCALL: 0xfa,
  REVERT: 0xfd,
  INVALID: 0xfe,
  SELFDESTRUCT: 0xff,
} as const;

type Opcode = keyof typeof OPCODES;
/** An opcode, a number to push, `:name` for a place to jump to, `@name` to push that place. */
export type Item = Opcode | number | bigint | `:${string}` | `@${string}`;

/**
 * Bytecode as hex digits without `0x`. Every fork runs it that knows its opcodes: numbers are pushed in as few bytes as
 * they need, and zero by PUSH1, as PUSH0 came with Shanghai.
 */
export function assemble(items: readonly Item[]): string {
  const labels = new Map<string, number>();
  let size = 0;
  for (const item of items) {
    if (typeof item === 'string' && item.startsWith(':')) labels.set(item.slice(1), size);
    size += toSize(item);
  }
  return items.map((item) => encode(item, labels)).join('');
}

function toSize(item: Item): number {
  if (typeof item !== 'string') return 1 + toDigits(item).length / 2;
  return item.startsWith('@') ? 3 : 1;
}

function encode(item: Item, labels: ReadonlyMap<string, number>): string {
  if (typeof item !== 'string') {
    const digits = toDigits(item);
    return `${toByte(0x5f + digits.length / 2)}${digits}`;
  }
  if (item.startsWith(':')) return toByte(OPCODES.JUMPDEST);
  if (!item.startsWith('@')) return toByte(OPCODES[item as Opcode]);
  const place = labels.get(item.slice(1));
  if (place === undefined) throw new Error(`no place ${item} to jump to`);
  return `61${place.toString(16).padStart(4, '0')}`;
}

function toDigits(value: number | bigint): string {
  const digits = value.toString(16);
  return digits.length % 2 === 0 ? digits : `0${digits}`;
}

function toByte(value: number): string {
  return value.toString(16).padStart(2, '0');
}
