/*
 * Huffman codes with a longest length (RFC 1951, 3.2.2). A table of codes has a word per symbol:
 * the code with its bits reversed, as it is written, and its length from bit 16 on; 0 for a symbol that does not occur.
 */

/** No alphabet of DEFLATE has more symbols. */
const MAX_SYMBOLS = 288;
/** A count above 2^23 is taken as 2^23: a key has 9 bits for the symbol. */
const MAX_COUNT: u32 = 0x7fffff;

/** Symbols that occur, in the order of their counts: count << 9 | symbol. */
const KEYS = memory.data(MAX_SYMBOLS * 4, 16);
/** The weights of leaves and, behind them, of inner nodes; later their depths. */
const WEIGHTS = memory.data(MAX_SYMBOLS * 8, 16);
/** The inner node above each node. */
const PARENTS = memory.data(MAX_SYMBOLS * 8, 16);
/** How many codes have each length; a depth may reach the number of symbols. */
const LENGTHS = memory.data((MAX_SYMBOLS + 1) * 4, 16);
/** The next code of each length. */
const NEXT = memory.data(16 * 4, 16);

function word(table: usize, index: u32): u32 {
  return load<u32>(table + ((<usize>index) << 2));
}
function setWord(table: usize, index: u32, value: u32): void {
  store<u32>(table + ((<usize>index) << 2), value);
}

/** Makes the codes of `symbols` symbols from their counts, none longer than `longest` bits. */
export function makeCodes(counts: usize, symbols: u32, longest: u32, codes: usize): void {
  memory.fill(codes, 0, (<usize>symbols) << 2);
  const used = sortKeys(counts, symbols);
  if (used === 0) return;
  if (used === 1) {
    // Of a single symbol zlib wants a code of one bit.
    setWord(codes, word(KEYS, 0) & 511, 1 << 16);
    return;
  }
  countLengths(used);
  limitLengths(used, longest);
  let key = used;
  for (let length: u32 = 1; length <= longest; length++) {
    for (let left = word(LENGTHS, length); left > 0; left--) {
      key--;
      setWord(codes, word(KEYS, key) & 511, length << 16);
    }
  }
  assignCodes(symbols, longest, codes);
}

/** Fills KEYS in ascending order; returns how many there are. */
function sortKeys(counts: usize, symbols: u32): u32 {
  let used: u32 = 0;
  for (let symbol: u32 = 0; symbol < symbols; symbol++) {
    const count = word(counts, symbol);
    if (count === 0) continue;
    const key = (min<u32>(count, MAX_COUNT) << 9) | symbol;
    let at = used++;
    for (; at > 0 && word(KEYS, at - 1) > key; at--) setWord(KEYS, at, word(KEYS, at - 1));
    setWord(KEYS, at, key);
  }
  return used;
}

/**
 * Joins the two lightest nodes until one is left, and counts the leaves at each depth. Leaves are sorted, and inner nodes
 * are made in the order of their weights, so the lightest is the first of one of these two.
 */
function countLengths(used: u32): void {
  for (let leaf: u32 = 0; leaf < used; leaf++) setWord(WEIGHTS, leaf, word(KEYS, leaf) >> 9);
  const nodes: u32 = 2 * used - 1;
  let leaf: u32 = 0;
  let inner = used;
  for (let made: u32 = used; made < nodes; made++) {
    let weight: u32 = 0;
    for (let side = 0; side < 2; side++) {
      const lightest =
        leaf < used && (inner >= made || word(WEIGHTS, leaf) <= word(WEIGHTS, inner)) ? leaf++ : inner++;
      weight += word(WEIGHTS, lightest);
      setWord(PARENTS, lightest, made);
    }
    setWord(WEIGHTS, made, weight);
  }
  memory.fill(LENGTHS, 0, (MAX_SYMBOLS + 1) * 4);
  setWord(WEIGHTS, nodes - 1, 0);
  for (let node: u32 = nodes - 1; node-- > 0; ) {
    const depth = word(WEIGHTS, word(PARENTS, node)) + 1;
    setWord(WEIGHTS, node, depth);
    if (node < used) setWord(LENGTHS, depth, word(LENGTHS, depth) + 1);
  }
}

/**
 * Makes codes that are too long as long as allowed, then lengthens others until the code is complete again (Kraft's sum,
 * in units of the longest code, is 2^longest). Each step takes one code of the longest length and pairs it with a shorter
 * one, both a bit longer than that was, and lowers the sum by one.
 */
function limitLengths(used: u32, longest: u32): void {
  let atLongest = word(LENGTHS, longest);
  for (let length = longest + 1; length <= used; length++) atLongest += word(LENGTHS, length);
  setWord(LENGTHS, longest, atLongest);
  let sum: u32 = 0;
  for (let length: u32 = 1; length <= longest; length++) sum += word(LENGTHS, length) << (longest - length);
  for (; sum > (<u32>1) << longest; sum--) {
    let length = longest - 1;
    while (word(LENGTHS, length) === 0) length--;
    setWord(LENGTHS, length, word(LENGTHS, length) - 1);
    setWord(LENGTHS, length + 1, word(LENGTHS, length + 1) + 2);
    setWord(LENGTHS, longest, word(LENGTHS, longest) - 1);
  }
}

/** Numbers the codes of each length in the order of symbols, their bits reversed. */
function assignCodes(symbols: u32, longest: u32, codes: usize): void {
  let code: u32 = 0;
  for (let length: u32 = 1; length <= longest; length++) {
    setWord(NEXT, length, code);
    code = (code + word(LENGTHS, length)) << 1;
  }
  for (let symbol: u32 = 0; symbol < symbols; symbol++) {
    const length = word(codes, symbol) >> 16;
    if (length === 0) continue;
    let rest = word(NEXT, length);
    setWord(NEXT, length, rest + 1);
    let reversed: u32 = 0;
    for (let bit: u32 = 0; bit < length; bit++) {
      reversed = (reversed << 1) | (rest & 1);
      rest >>= 1;
    }
    setWord(codes, symbol, reversed | (length << 16));
  }
}
