import { Problem } from '../http/problem.js';

/** Returns what is wrong with a value, or null. */
export type Check = (value: unknown) => string | null;

/**
 * Checks parameters by position; those from `required` on may be left out. Throws the problem `params-invalid`, which
 * names the argument in geth's words (go-ethereum, rpc/json.go, parsePositionalArguments).
 */
export function checkParams(
  params: readonly unknown[],
  checks: readonly Check[],
  required = checks.length,
): void {
  if (params.length > checks.length) {
    throw invalidParams(`too many arguments, want at most ${checks.length}`, params.length - 1);
  }
  for (const [at, check] of checks.entries()) {
    const value = params[at];
    if (at >= params.length || (value === null && at < required)) {
      if (at < required) throw invalidParams(`missing value for required argument ${at}`, at);
      return;
    }
    if (value === null && at >= required) continue;
    const wrong = check(value);
    if (wrong !== null) throw invalidParams(`invalid argument ${at}: ${wrong}`, at);
  }
}

/** The problem for a wrong parameter. */
export function invalidParams(detail: string, argument?: number): Problem {
  return new Problem('params-invalid', { detail, members: argument === undefined ? {} : { argument } });
}

/** Accepts any value. */
export const anything: Check = () => null;

export const flag: Check = (value) =>
  typeof value === 'boolean' ? null : `expected true or false, got ${describeType(value)}`;

/** A QUANTITY of at most 64 bits. */
export const quantity: Check = (value) => quantityUpTo(value, 16);

/** A QUANTITY of at most 256 bits. */
export const bigQuantity: Check = (value) => quantityUpTo(value, 64);

function quantityUpTo(value: unknown, digits: number): string | null {
  if (typeof value !== 'string') return `expected a hex string, got ${describeType(value)}`;
  if (!value.startsWith('0x')) return 'hex string without 0x prefix';
  if (value === '0x') return 'hex string "0x"';
  if (!/^0x[0-9a-fA-F]+$/.test(value)) return 'invalid hex string';
  if (/^0x0./.test(value)) return 'hex number with leading zero digits';
  return value.length - 2 > digits ? `hex number > ${digits * 4} bits` : null;
}

/** DATA of any length. */
export const data: Check = (value) => {
  if (typeof value !== 'string') return `expected a hex string, got ${describeType(value)}`;
  if (!value.startsWith('0x')) return 'hex string without 0x prefix';
  if (value.length % 2 !== 0) return 'hex string of odd length';
  return /^0x[0-9a-fA-F]*$/.test(value) ? null : 'invalid hex string';
};

function fixedData(bytes: number): Check {
  return (value) => {
    const wrong = data(value);
    if (wrong !== null) return wrong;
    const digits = (value as string).length - 2;
    return digits === bytes * 2 ? null : `hex string has length ${digits}, want ${bytes * 2}`;
  };
}

/** DATA, 20 bytes. */
export const address = fixedData(20);

/** DATA, 32 bytes. */
export const hash = fixedData(32);

/** A position in storage: 32 bytes at most, leading zeros allowed, as geth takes it. */
export const storagePosition: Check = (value) => {
  if (typeof value !== 'string') return `expected a hex string, got ${describeType(value)}`;
  if (!/^0x[0-9a-fA-F]+$/.test(value))
    return value.startsWith('0x') ? 'invalid hex string' : 'hex string without 0x prefix';
  return value.length > 66 ? `hex string has length ${value.length - 2}, want at most 64` : null;
};

export const BLOCK_TAGS: readonly string[] = ['latest', 'earliest', 'pending', 'safe', 'finalized'];

/** A block number or a tag. */
export const blockParameter: Check = (value) =>
  typeof value === 'string' && BLOCK_TAGS.includes(value) ? null : quantity(value);

/** A block number, a tag, a bare hash, or `{blockHash}` or `{blockNumber}` (EIP-1898; go-ethereum, rpc/types.go). */
export const blockOrHash: Check = (value) => {
  if (!isObject(value)) return isHashLong(value) ? hash(value) : blockParameter(value);
  const { blockHash, blockNumber } = value;
  if (blockHash !== undefined && blockNumber !== undefined) {
    return 'cannot specify both BlockHash and BlockNumber, choose one or the other';
  }
  if (blockHash !== undefined) return hash(blockHash);
  return blockNumber === undefined ? 'expected blockHash or blockNumber' : blockParameter(blockNumber);
};

/** Nodes tell a bare hash from a number by its length alone. */
function isHashLong(value: unknown): boolean {
  return typeof value === 'string' && value.length === 66;
}

/** Returns what is wrong with the first wrong element; `name` names an element. */
export function checkEach(list: readonly unknown[], check: Check, name: string): string | null {
  for (const [at, each] of list.entries()) {
    const wrong = check(each);
    if (wrong !== null) return `invalid ${name} at index ${at}: ${wrong}`;
  }
  return null;
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a member was left out, or is null, which means the same. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** The type of a value, for messages. */
export function describeType(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value;
}

/** The number, hash or tag of a block parameter, also of `{blockHash}` or `{blockNumber}` (EIP-1898). */
export function nameBlock(value: unknown): unknown {
  if (!isObject(value)) return value;
  return value.blockHash ?? value.blockNumber;
}

/** The number in a block parameter; undefined for tags and hashes. */
export function toBlockNumber(value: unknown): number | undefined {
  return typeof value === 'string' && value.startsWith('0x') && !isHashLong(value)
    ? Number(value)
    : undefined;
}

/** The block that a node needs for a block parameter; `tip` for tags, undefined for a hash. Absent means `latest`. */
export function blockNeeded(value: unknown): number | 'tip' | undefined {
  if (typeof value === 'object' && value !== null) {
    const { blockHash, blockNumber } = value as Record<string, unknown>;
    return blockHash === undefined ? blockNeeded(blockNumber) : undefined;
  }
  if (value === 'earliest') return 0;
  if (isHashLong(value)) return undefined;
  return toBlockNumber(value) ?? 'tip';
}
