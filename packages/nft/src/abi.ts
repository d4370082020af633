/** Hex digits of a word of the contract ABI. */
const WORD = 64;

/** A uint256 as a word. */
export function toWord(value: bigint): string {
  return value.toString(16).padStart(WORD, '0');
}

/** The `at`th word of hex data as a number; null if the data end before it. */
export function decodeUint(data: string, at = 0): bigint | null {
  const from = 2 + at * WORD;
  const text = data.slice(from, from + WORD);
  return text.length === WORD && /^[0-9a-f]+$/i.test(text) ? BigInt(`0x${text}`) : null;
}

/** A bool; anything but the word 1 is false: Solidity's own callers revert at it. */
export function decodeBool(data: string): boolean {
  return decodeUint(data) === 1n;
}

/** The only result, a string; null if it is not well formed or not UTF-8. */
export function decodeString(data: string): string | null {
  const tail = getTail(data, 0);
  if (tail === null) return null;
  const from = 2 + tail.at * WORD;
  const text = data.slice(from, from + tail.length * 2);
  if (text.length !== tail.length * 2 || !/^[0-9a-f]*$/i.test(text)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'hex'));
  } catch {
    return null;
  }
}

/** The `head`th value, an array of uint256, of at most `most` elements; empty if it is not well formed. */
export function decodeUints(data: string, head: number, most: number): bigint[] {
  const tail = getTail(data, head);
  if (tail === null) return [];
  const values: bigint[] = [];
  for (let n = 0; n < Math.min(tail.length, most); n++) {
    const value = decodeUint(data, tail.at + n);
    if (value === null) return [];
    values.push(value);
  }
  return values;
}

/** The word at which a dynamic value begins, and its length; null if the data are too short. */
function getTail(data: string, head: number): { at: number; length: number } | null {
  const offset = decodeUint(data, head);
  if (offset === null || offset % 32n !== 0n || offset > BigInt(data.length)) return null;
  const at = Number(offset / 32n);
  const length = decodeUint(data, at);
  if (length === null || length > BigInt(data.length)) return null;
  return { at: at + 1, length: Number(length) };
}
