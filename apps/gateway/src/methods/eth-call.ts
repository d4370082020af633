import { toQuantity } from '@packhouse/chain';
import type { Network } from '@packhouse/networks';
import { getOwner } from '../access/address-limiter.js';
import { createInFlight } from '../access/in-flight.js';
import {
  address,
  anything,
  bigQuantity,
  blockNeeded,
  blockOrHash,
  type Check,
  checkParams,
  data,
  describeType,
  invalidParams,
  isAbsent,
  isObject,
  quantity,
  toBlockNumber,
} from '../rpc/check-params.js';
import type { Prepared, RpcMethod } from '../rpc/method.js';

/**
 * `eth_call` and `eth_estimateGas`, with the network's limit of gas (`gasCap`), their own timeout, and a limit on
 * concurrent calls of one key, or address without a key: slow calls of one client must not block the nodes for others.
 */
export function ethCalls(): RpcMethod[] {
  const enter = createInFlight('calls');
  const method = (name: string, prepare: (params: readonly unknown[]) => Prepared): RpcMethod => ({
    name,
    cost: 2,
    idempotent: true,
    contracts: readCalled,
    pinsTags: true,
    prepare(params, { config: network }): Prepared {
      // The third and fourth parameter are geth's overrides of state and block.
      checkParams(params, [callObject, blockOrHash, anything, anything], 1);
      const { rpc } = network;
      const capped = withGasCap(params[0] as Record<string, unknown>, rpc);
      return {
        timeoutMs: rpc.callTimeoutMs,
        block: blockNeeded(params[1]),
        ...prepare([capped, ...params.slice(1)]),
      };
    },
    enter: (caller) => enter(getOwner(caller), caller.network.config.rpc.maxCallsInFlight),
  });
  return [
    method('eth_call', ([call, at, ...overrides]) => ({
      params: JSON.stringify([call, at ?? 'latest', ...overrides]),
      aboutBlock: toBlockNumber(at),
    })),
    {
      // Nodes differ in the block that they estimate at by default, and in the estimate: it is never kept.
      ...method('eth_estimateGas', (params) => ({ params: JSON.stringify(params) })),
      unlessStrict: true,
    },
  ];
}

/** The contract that is called; any, if a contract is created, or code put at an address by overriding the state. */
function readCalled([call, , ...overrides]: readonly unknown[]): readonly unknown[] {
  const changes = overrides.some((each) => !isAbsent(each) && JSON.stringify(each) !== '{}');
  return changes || !isObject(call) || isAbsent(call.to) ? [] : [call.to];
}

function withGasCap(
  call: Record<string, unknown>,
  { gasCap, aboveGasCap }: Network['rpc'],
): Record<string, unknown> {
  if (gasCap === null || typeof call.gas !== 'string' || BigInt(call.gas) <= BigInt(gasCap)) return call;
  if (aboveGasCap === 'reject') {
    throw invalidParams(`invalid argument 0: gas: ${BigInt(call.gas)} is above the cap of ${gasCap}`, 0);
  }
  return { ...call, gas: toQuantity(gasCap) };
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

/** As Go compares names: U+017F and U+212A too are the letters s and k. */
const foldCase = (name: string): string => name.toUpperCase().toLowerCase();

const KNOWN = new Map(Object.keys(FIELDS).map((name) => [foldCase(name), name]));

/** Checks the call object of eth_call; unknown fields are left to the node. */
const callObject: Check = (value) => {
  if (!isObject(value)) return `expected a call object, got ${describeType(value)}`;
  // Go reads names in any case, the last one wins (encoding/json): "To" would go around what is said of "to".
  const other = Object.keys(value).find((name) => !Object.hasOwn(FIELDS, name) && KNOWN.has(foldCase(name)));
  if (other !== undefined) return `unknown field, expected "${KNOWN.get(foldCase(other))}"`;
  for (const [name, check] of Object.entries(FIELDS)) {
    const wrong = isAbsent(value[name]) ? null : check(value[name]);
    if (wrong !== null) return `${name}: ${wrong}`;
  }
  const { data: first, input } = value as { data?: string | null; input?: string | null };
  if (first != null && input != null && first.toLowerCase() !== input.toLowerCase()) {
    return 'both "data" and "input" are set and not equal. Please use "input" to pass transaction call data';
  }
  return null;
};
