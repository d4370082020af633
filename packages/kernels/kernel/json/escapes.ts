/*
 * What stands behind backslashes: one of `"\/bfnrt`, or `u` and four hexadecimal digits.
 */

/** Digits that the last escape lacks yet: they are in the next block or piece. */
export let hexLeft: u32 = 0;

export function setHexLeft(count: u32): void {
  hexLeft = count;
}

/** Checks the bytes of a block that `escapes` has bits of, and the digits behind them, as far as `end`. */
export function checkEscapes(block: u32, end: u32, escapes: u64): bool {
  const blockEnd = min(block + 64, end);
  if (hexLeft !== 0 && !readDigits(block, blockEnd)) return false;
  for (let left = escapes; left !== 0; left &= left - 1) {
    const at = block + <u32>ctz(left);
    const byte = <u32>load<u8>(at);
    if (byte === 0x75) {
      hexLeft = 4;
      if (!readDigits(at + 1, blockEnd)) return false;
    } else if (!isEscape(byte)) return false;
  }
  return true;
}

function readDigits(from: u32, end: u32): bool {
  for (let at = from; at < end && hexLeft !== 0; at++) {
    const byte = <u32>load<u8>(at);
    if (byte - 0x30 >= 10 && (byte | 0x20) - 0x61 >= 6) return false;
    hexLeft--;
  }
  return true;
}

function isEscape(byte: u32): bool {
  return (
    byte === 0x22 ||
    byte === 0x5c ||
    byte === 0x2f ||
    byte === 0x62 ||
    byte === 0x66 ||
    byte === 0x6e ||
    byte === 0x72 ||
    byte === 0x74
  );
}
