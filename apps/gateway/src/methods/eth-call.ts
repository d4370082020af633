import type { Network } from '@packhouse/networks';
import { ownerOf } from '../access/address-limiter.js';
import { createInFlight } from '../access/in-flight.js';
import {
  address,
  anything,
  bigQuantity,
  blockNeeded,
  blockNumberOf,
  blockOrHash,
  type Check,
  checkParams,
  data,
  invalidParams,
  kindOf,
  quantity,
} from '../rpc/check-params.js';
import type { Prepared, RpcMethod } from '../rpc/method.js';

/**
 * `eth_call` and `eth_estimateGas`, with the network's limit of gas (`gasCap`), their own timeout, and a limit on
 * concurrent calls of one key, or address without a key: slow calls of one client must not block the nodes for others.
 */
export function ethCalls(): RpcMethod[] {
  const inFlight = createInFlight('calls');
  const method = (
    name: string,
    prepare: (params: readonly unknown[], block: number | undefined) => Prepared,
  ): RpcMethod => ({
    name,
    cost: 2,
    idempotent: true,
    pins: true,
    prepare(params, { network }): Prepared {
      // The third and fourth parameter are geth's overrides of state and block.
      checkParams(params, [callObject, blockOrHash, anything, anything], 1);
      const { rpc } = network;
      const capped = withGasCap(params[0] as Record<string, unknown>, rpc);
      const [needed, about] = [blockNeeded(params[1]), blockNumberOf(params[1])];
      return {
        timeoutMs: rpc.callTimeoutMs,
        ...(needed === undefined ? {} : { block: needed }),
        ...prepare([capped, ...params.slice(1)], about),
      };
    },
    enter: (caller) => inFlight.enter(ownerOf(caller), caller.at.network.rpc.maxCallsInFlight),
  });
  return [
    method('eth_call', ([call, at, ...overrides], block) => ({
      params: JSON.stringify([call, at ?? 'latest', ...overrides]),
      ...(block === undefined ? {} : { about: block }),
    })),
    {
      // Nodes differ in the block that they estimate at by default, and in the estimate: it is never kept.
      ...method('eth_estimateGas', (params) => ({ params: JSON.stringify(params) })),
      unlessStrict: true,
    },
  ];
}

function withGasCap(
  call: Record<string, unknown>,
  { gasCap, aboveGasCap }: Network['rpc'],
): Record<string, unknown> {
  if (gasCap === null || typeof call.gas !== 'string' || BigInt(call.gas) <= BigInt(gasCap)) return call;
  if (aboveGasCap === 'reject') {
    throw invalidParams(`invalid argument 0: gas: ${BigInt(call.gas)} is above the cap of ${gasCap}`, 0);
  }
  return { ...call, gas: `0x${gasCap.toString(16)}` };
}

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

/** Checks the call object of eth_call; unknown fields are left to the node. */
const callObject: Check = (value) => {
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
