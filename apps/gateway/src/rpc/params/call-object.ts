import { address, bigQuantity, type Check, data, kindOf, quantity } from './check-params.js';

const FIELDS: Record<string, Check> = {
  from: address,
  to: address,
  gas: quantity,
  gasPrice: bigQuantity,
  maxFeePerGas: bigQuantity,
  maxPriorityFeePerGas: bigQuantity,
  value: bigQuantity,
  nonce: quantity,
  data,
  input: data,
};

/** Checks the call object of eth_call; fields that it does not know are the node's. */
export const callObject: Check = (value) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return `expected a call object, got ${kindOf(value)}`;
  }
  for (const [name, check] of Object.entries(FIELDS)) {
    const field = (value as Record<string, unknown>)[name];
    const wrong = field === undefined || field === null ? null : check(field);
    if (wrong !== null) return `${name}: ${wrong}`;
  }
  const { data: first, input } = value as { data?: string | null; input?: string | null };
  if (first != null && input != null && first.toLowerCase() !== input.toLowerCase()) {
    return 'both "data" and "input" are set and not equal. Please use "input" to pass transaction call data';
  }
  return null;
};
