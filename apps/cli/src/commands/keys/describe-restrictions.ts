import type { PublicKey } from '@packhouse/operations';
import { counted } from '../../terminal/format.js';

/** The restrictions of a key in words; empty if there are none. */
export function describeRestrictions(
  { origins, addresses, methods, contracts, maxLogRange }: PublicKey,
  before: string,
): string {
  const parts = [
    ...origins.map((origin) => `origin ${origin}`),
    ...addresses.map((address) => `address ${address}`),
    ...methods.map((method) => `method ${method}`),
    ...contracts.map((contract) => `contract ${contract}`),
    ...(maxLogRange === null ? [] : [`logs of ${counted(maxLogRange, 'block')}`]),
  ];
  return parts.length === 0 ? '' : `${before}${parts.join(', ')}`;
}
