/** First topics of transfers: the Keccak-256 of the events' signatures. */
export const TRANSFER_TOPICS = {
  /** Transfer(address,address,uint256): ERC-721. */
  erc721: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  /** TransferSingle(address,address,address,uint256,uint256): ERC-1155. */
  single: '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62',
  /** TransferBatch(address,address,address,uint256[],uint256[]): ERC-1155. */
  batch: '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb',
};

const ALPHABET = 'abcdefghjkmnprstuvwxyz0123456789';
const GENERATOR = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n];

/** The address of network 1029 with these 20 bytes, 40 hex digits (CIP-37). */
export function toBase32(hex: string): string {
  const bits = `${'0'.repeat(8)}${BigInt(`0x${hex}`).toString(2).padStart(160, '0')}00`;
  const digits = (bits.match(/.{5}/g) ?? []).map((five) => Number.parseInt(five, 2));
  let checksum = 1n;
  for (const digit of [
    ...[...'cfx'].map((char) => char.charCodeAt(0) & 31),
    0,
    ...digits,
    ...Array(8).fill(0),
  ]) {
    const top = checksum >> 35n;
    checksum = ((checksum & 0x07ffffffffn) << 5n) ^ BigInt(digit);
    for (const [bit, generator] of GENERATOR.entries()) if ((top >> BigInt(bit)) & 1n) checksum ^= generator;
  }
  checksum ^= 1n;
  const sum = Array.from({ length: 8 }, (_, at) => Number((checksum >> BigInt(35 - at * 5)) & 31n));
  return `cfx:${[...digits, ...sum].map((digit) => ALPHABET[digit]).join('')}`;
}

/** The address of the nth contract. */
export function contractAt(n: number): string {
  return toBase32(`8${n.toString(16).padStart(39, '0')}`);
}

/** The address of the nth user. */
export function userAt(n: number): string {
  return toBase32(`1${n.toString(16).padStart(39, '0')}`);
}

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

function word(value: number | bigint): string {
  return BigInt(value).toString(16).padStart(64, '0');
}
