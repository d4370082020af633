import type { Network } from '@packhouse/networks';
import type { Prepared, RpcMethod } from '../method.js';
import { callObject } from '../params/call-object.js';
import { anything, blockNumberOf, blockOrHash, checkParams, invalidParams } from '../params/check-params.js';

/** `eth_call`, with the gas of a network at most (service specification 8). */
export const ethCall: RpcMethod = {
  name: 'eth_call',
  cost: 2,
  idempotent: true,
  prepare(params, { site }): Prepared {
    // The third and fourth are geth's overrides of state and block.
    checkParams(params, [callObject, blockOrHash, anything, anything], 1);
    const [call, block = 'latest', ...overrides] = params as [Record<string, unknown>, unknown];
    const { rpc } = site.network;
    const capped = withGasCap(call, rpc);
    const number = blockNumberOf(block);
    return {
      params: JSON.stringify([capped, block, ...overrides]),
      timeoutMs: rpc.callTimeoutMs,
      ...(number === undefined ? {} : { block: number, about: number }),
    };
  },
};

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
