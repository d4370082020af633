import { finalizedNumber, type NodeState } from './node-state.js';

/** A parameter that a node refuses, in geth's words (rpc/types.go, rpc/json.go). */
export class BadParameter extends Error {}

/** A positional parameter. */
export function required(params: readonly unknown[], position: number): unknown {
  const value = params[position];
  if (value === undefined || value === null) {
    throw new BadParameter(`missing value for required argument ${position}`);
  }
  return value;
}

/** A 32-byte hash, lower case. */
export function hashParameter(params: readonly unknown[], position: number): string {
  const value = required(params, position);
  if (typeof value !== 'string' || !value.startsWith('0x')) {
    throw new BadParameter(`invalid argument ${position}: hex string without 0x prefix`);
  }
  if (!/^0x[0-9a-fA-F]{64}$/.test(value)) {
    throw new BadParameter(
      `invalid argument ${position}: hex string has length ${value.length - 2}, want 64 for common.Hash`,
    );
  }
  return value.toLowerCase();
}

/**
 * The number of the block that a parameter means: a quantity, a tag, a hash, `{blockHash}` or `{blockNumber}`;
 * undefined for a hash that is not known.
 *
 * @throws BadParameter for anything else.
 */
export function blockParameter(
  state: NodeState,
  params: readonly unknown[],
  position: number,
): number | undefined {
  const value = required(params, position);
  if (typeof value === 'object') {
    const { blockHash, blockNumber } = value as { blockHash?: unknown; blockNumber?: unknown };
    if (blockHash !== undefined) return state.chain.toNumber(hashParameter([blockHash], 0));
    return blockParameter(state, [blockNumber], 0);
  }
  if (value === 'latest' || value === 'pending') return state.head;
  if (value === 'earliest') return state.chain.firstNumber;
  if ((value === 'finalized' || value === 'safe') && state.capabilities.finalizedTag) {
    return finalizedNumber(state);
  }
  if (typeof value !== 'string' || !value.startsWith('0x')) {
    throw new BadParameter(`invalid argument ${position}: hex string without 0x prefix`);
  }
  if (value.length === 66) return state.chain.toNumber(hashParameter(params, position));
  if (!/^0x(0|[1-9a-fA-F][0-9a-fA-F]*)$/.test(value)) {
    throw new BadParameter(`invalid argument ${position}: invalid hex string`);
  }
  return Number(value);
}
