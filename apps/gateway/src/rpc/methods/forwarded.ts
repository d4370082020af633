import type { RpcMethod } from '../method.js';

/** A read that goes through unchecked; the nodes know their parameters. */
export function forwarded(name: string, more: Partial<RpcMethod> = {}): RpcMethod {
  return { name, cost: 1, idempotent: true, ...more };
}
