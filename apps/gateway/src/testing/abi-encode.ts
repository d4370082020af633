const word = (value: number | bigint): string => BigInt(value).toString(16).padStart(64, '0');

/** The result of a function that returns a string. */
export function abiString(text: string): string {
  const hex = Buffer.from(text, 'utf8').toString('hex');
  return `0x${word(32)}${word(hex.length / 2)}${hex}${'0'.repeat((64 - (hex.length % 64)) % 64)}`;
}

/** Arrays of uint256, one behind the other. */
export function abiUints(...arrays: readonly bigint[][]): string {
  let offset = arrays.length * 32;
  const heads: string[] = [];
  for (const values of arrays) {
    heads.push(word(offset));
    offset += 32 * (values.length + 1);
  }
  const tails = arrays.map((values) => word(values.length) + values.map(word).join(''));
  return `0x${heads.join('')}${tails.join('')}`;
}

/** Words. */
export function abiWords(...values: (number | bigint)[]): string {
  return `0x${values.map(word).join('')}`;
}
