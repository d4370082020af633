import type { AbiParameter } from './abi-types.js';

/** An event as an ABI has it; the types are not looked at yet. */
export interface AbiEvent {
  name: string;
  inputs: readonly AbiParameter[];
  anonymous: boolean;
}

/** Words between a type and a name, beside `indexed`. */
const PASSED_OVER = new Set(['memory', 'calldata', 'storage', 'payable']);
/** Types that Solidity lets one write shorter. */
const SHORT: Readonly<Record<string, string>> = {
  uint: 'uint256',
  int: 'int256',
  fixed: 'fixed128x18',
  ufixed: 'ufixed128x18',
  byte: 'bytes1',
};
const MAX_DEPTH = 16;

/**
 * Reads `event Transfer(address indexed from, address indexed to, uint256 value) anonymous;`, or a signature without
 * names. Tuples are written `(uint256 a, bool b)[]` or `tuple(…)`. Throws a RangeError that says what is wrong.
 */
export function readSignature(line: string): AbiEvent {
  const tokens = line.match(/[\w$]+|\[\d*\]|\S/g) ?? [];
  let at = 0;
  const expect = (token: string): void => {
    if (tokens[at] !== token) throw unexpected(`"${token}"`);
    at += 1;
  };
  const unexpected = (wanted: string): RangeError =>
    new RangeError(
      `has ${tokens[at] === undefined ? 'an end' : `"${tokens[at]?.slice(0, 40)}"`} where ${wanted} is expected`,
    );

  const readParameter = (depth: number): AbiParameter => {
    if (depth > MAX_DEPTH) throw new RangeError(`nests more than ${MAX_DEPTH} types`);
    let components: AbiParameter[] | undefined;
    let type = tokens[at] ?? '';
    if (type === 'tuple' || type === '(') {
      if (type === 'tuple') at += 1;
      components = readList(depth + 1);
      type = 'tuple';
    } else {
      if (!isWord(type)) throw unexpected('a type');
      at += 1;
    }
    type = SHORT[type] ?? type;
    for (; /^\[\d*\]$/.test(tokens[at] ?? ''); at += 1) type += tokens[at];
    let indexed = false;
    let name = '';
    for (; isWord(tokens[at]); at += 1) {
      const word = tokens[at] as string;
      if (word === 'indexed' && depth === 0 && name === '') indexed = true;
      else if (name === '' && !PASSED_OVER.has(word)) name = word;
      else if (name !== '') throw unexpected('"," or ")"');
    }
    return { type, name, indexed, components };
  };

  const readList = (depth: number): AbiParameter[] => {
    expect('(');
    const list: AbiParameter[] = [];
    while (tokens[at] !== ')') {
      if (list.length > 0) expect(',');
      list.push(readParameter(depth));
    }
    at += 1;
    return list;
  };

  if (tokens[at] === 'event') at += 1;
  const name = tokens[at] ?? '';
  if (!isWord(name)) throw unexpected('a name');
  at += 1;
  const inputs = readList(0);
  const anonymous = tokens[at] === 'anonymous';
  if (anonymous) at += 1;
  if (tokens[at] === ';') at += 1;
  if (at < tokens.length) throw unexpected('the end');
  return { name, inputs, anonymous };
}

function isWord(token: string | undefined): boolean {
  return token !== undefined && /^[\w$]/.test(token);
}
