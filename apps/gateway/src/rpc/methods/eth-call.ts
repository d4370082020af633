import type { Network } from '@packhouse/networks';
import { ownerOf } from '../../limits/owner-of.js';
import { createCallsInFlight } from '../calls-in-flight.js';
import type { Prepared, RpcMethod } from '../method.js';
import { callObject } from '../params/call-object.js';
import { anything, blockNumberOf, blockOrHash, checkParams, invalidParams } from '../params/check-params.js';

/**
 * `eth_call`, with the gas of a network at most (`gasCap`), a timeout of its own, and so many of one key,
 * or address without a key, in flight: whoever's calls are slow does not take the nodes from the others.
 */
export function ethCall(): RpcMethod {
  const inFlight = createCallsInFlight();
  return {
    name: 'eth_call',
    cost: 2,
    idempotent: true,
    prepare(params, { site }): Prepared {
      // The third and fourth are geth's overrides of state and block.
      checkParams(params, [callObject, blockOrHash, anything, anything], 1);
      const [call, block, ...overrides] = params as [Record<string, unknown>, unknown];
      const { rpc } = site.network;
      const capped = withGasCap(call, rpc);
      const number = blockNumberOf(block);
      return {
        params: JSON.stringify([capped, block ?? 'latest', ...overrides]),
        timeoutMs: rpc.callTimeoutMs,
        ...(number === undefined ? {} : { block: number, about: number }),
      };
    },
    enter: (visit) => inFlight.enter(ownerOf(visit), visit.at.site.network.rpc.maxCallsInFlight),
  };
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
