/** Opcodes of the EVM that the demo contracts use (Yellow Paper, appendix H; EIP-145, 211, 1014, 1153, 3855, 5656). */
const OPCODES: Readonly<Record<string, number>> = {
  STOP: 0x00,
  ADD: 0x01,
  MUL: 0x02,
  SUB: 0x03,
  LT: 0x10,
  GT: 0x11,
  EQ: 0x14,
  ISZERO: 0x15,
  AND: 0x16,
  XOR: 0x18,
  SHL: 0x1b,
  SHR: 0x1c,
  KECCAK256: 0x20,
  CALLER: 0x33,
  CALLVALUE: 0x34,
  CALLDATALOAD: 0x35,
  CALLDATASIZE: 0x36,
  CALLDATACOPY: 0x37,
  CODECOPY: 0x39,
  RETURNDATASIZE: 0x3d,
  RETURNDATACOPY: 0x3e,
  TIMESTAMP: 0x42,
  NUMBER: 0x43,
  PREVRANDAO: 0x44,
  POP: 0x50,
  MLOAD: 0x51,
  MSTORE: 0x52,
  SLOAD: 0x54,
  SSTORE: 0x55,
  JUMP: 0x56,
  JUMPI: 0x57,
  GAS: 0x5a,
  TLOAD: 0x5c,
  TSTORE: 0x5d,
  MCOPY: 0x5e,
  PUSH0: 0x5f,
  ...numbered('DUP', 0x80),
  ...numbered('SWAP', 0x90),
  LOG0: 0xa0,
  LOG1: 0xa1,
  LOG2: 0xa2,
  LOG3: 0xa3,
  LOG4: 0xa4,
  CREATE: 0xf0,
  CALL: 0xf1,
  RETURN: 0xf3,
  DELEGATECALL: 0xf4,
  CREATE2: 0xf5,
  STATICCALL: 0xfa,
  REVERT: 0xfd,
  INVALID: 0xfe,
  SELFDESTRUCT: 0xff,
};

const JUMPDEST = 0x5b;
const PUSH0 = 0x5f;
const PUSH2 = 0x61;

/**
 * Assembles EVM code; answers lower-case hex without `0x`.
 *
 * Words are separated by white space: an opcode's name; a number (decimal or `0x…`), pushed with the shortest
 * PUSH; `name:`, a jump destination; `@name`, which pushes its offset. `;` begins a comment.
 * Throws on a word that is none of these: the programs are part of this package.
 */
export function assemble(program: string): string {
  const bytes: number[] = [];
  const destinations = new Map<string, number>();
  const uses: { at: number; name: string }[] = [];
  for (const word of program.replace(/;.*$/gm, '').split(/\s+/).filter(Boolean)) {
    const opcode = OPCODES[word];
    if (opcode !== undefined) {
      bytes.push(opcode);
    } else if (/^(\d+|0x[0-9a-f]+)$/.test(word)) {
      bytes.push(...push(BigInt(word)));
    } else if (/^\w+:$/.test(word)) {
      destinations.set(word.slice(0, -1), bytes.length);
      bytes.push(JUMPDEST);
    } else if (/^@\w+$/.test(word)) {
      uses.push({ at: bytes.length + 1, name: word.slice(1) });
      bytes.push(PUSH2, 0, 0);
    } else {
      throw new TypeError(`"${word}" is neither an opcode nor a number nor a label`);
    }
  }
  for (const { at, name } of uses) {
    const destination = destinations.get(name);
    if (destination === undefined) throw new TypeError(`there is no label "${name}"`);
    bytes[at] = destination >> 8;
    bytes[at + 1] = destination & 0xff;
  }
  return Buffer.from(bytes).toString('hex');
}

/** Code that, run as a creation, leaves `runtime` (hex without `0x`) as the contract's code. */
export function initCode(runtime: string): string {
  const head = (offset: number): string =>
    assemble(`${runtime.length / 2} DUP1 ${offset} 0 CODECOPY 0 RETURN`);
  return head(head(1).length / 2) + runtime;
}

function push(value: bigint): number[] {
  if (value === 0n) return [PUSH0];
  const hex = value.toString(16);
  const data = [...Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')];
  return [PUSH0 + data.length, ...data];
}

function numbered(name: string, first: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`${name}${index + 1}`, first + index]));
}
