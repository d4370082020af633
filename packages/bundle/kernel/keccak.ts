/* Keccak-256 (the Keccak of Ethereum, padded by 0x01) of short messages, by the reference's plain loops: it is rarely needed. */

const RATE: usize = 136;
const STATE = memory.data(200, 16);
const COLUMNS = memory.data(40, 16);
const ROTATIONS = memory.data<u8>([
  1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44,
]);
/** The lane that each one moves to, from lane 1 on. */
const MOVES = memory.data<u8>([
  10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1,
]);
/** A word of 64 bits for each round, its lower half first. */
const CONSTANTS = memory.data<u32>([
  0x1, 0x0, 0x8082, 0x0, 0x808a, 0x80000000, 0x80008000, 0x80000000, 0x808b, 0x0, 0x80000001, 0x0, 0x80008081,
  0x80000000, 0x8009, 0x80000000, 0x8a, 0x0, 0x88, 0x0, 0x80008009, 0x0, 0x8000000a, 0x0, 0x8000808b, 0x0,
  0x8b, 0x80000000, 0x8089, 0x80000000, 0x8003, 0x80000000, 0x8002, 0x80000000, 0x80, 0x80000000, 0x800a, 0x0,
  0x8000000a, 0x80000000, 0x80008081, 0x80000000, 0x8080, 0x80000000, 0x80000001, 0x0, 0x80008008, 0x80000000,
]);

/** The address of the hash (32 bytes) of a message that is shorter than 136 bytes. */
export function keccak(message: usize, length: usize): usize {
  memory.fill(STATE, 0, 200);
  memory.copy(STATE, message, length);
  store<u8>(STATE + length, load<u8>(STATE + length) ^ 0x01);
  store<u8>(STATE + RATE - 1, load<u8>(STATE + RATE - 1) ^ 0x80);
  for (let round: usize = 0; round < 24; round++) permute(load<u64>(CONSTANTS + (round << 3)));
  return STATE;
}

function lane(table: usize, index: usize): u64 {
  return load<u64>(table + (index << 3));
}
function set(table: usize, index: usize, value: u64): void {
  store<u64>(table + (index << 3), value);
}

function permute(constant: u64): void {
  for (let x: usize = 0; x < 5; x++) {
    const upper = lane(STATE, x) ^ lane(STATE, x + 5) ^ lane(STATE, x + 10);
    set(COLUMNS, x, upper ^ lane(STATE, x + 15) ^ lane(STATE, x + 20));
  }
  for (let x: usize = 0; x < 5; x++) {
    const sum = lane(COLUMNS, (x + 4) % 5) ^ rotl<u64>(lane(COLUMNS, (x + 1) % 5), 1);
    for (let y = x; y < 25; y += 5) set(STATE, y, lane(STATE, y) ^ sum);
  }
  let moved = lane(STATE, 1);
  for (let nth: usize = 0; nth < 24; nth++) {
    const to = <usize>load<u8>(MOVES + nth);
    const next = lane(STATE, to);
    set(STATE, to, rotl<u64>(moved, <u64>load<u8>(ROTATIONS + nth)));
    moved = next;
  }
  for (let row: usize = 0; row < 25; row += 5) {
    for (let x: usize = 0; x < 5; x++) set(COLUMNS, x, lane(STATE, row + x));
    for (let x: usize = 0; x < 5; x++) {
      set(STATE, row + x, lane(COLUMNS, x) ^ (~lane(COLUMNS, (x + 1) % 5) & lane(COLUMNS, (x + 2) % 5)));
    }
  }
  set(STATE, 0, lane(STATE, 0) ^ constant);
}
