import type { PublicKey } from '@packhouse/operations';
import { counted } from '../../terminal/format.js';

/** The restrictions of keys as options of a change. */
export const RESTRICTIONS = {
  origins: ['--origin <origin...>', 'Allowed browser origins, all of them; any: all'],
  addresses: ['--address <cidr...>', 'Allowed client addresses, all of them; any: all'],
  methods: ['--method <name...>', 'Allowed methods, all of them; any: all'],
  contracts: ['--contract <address...>', 'Contracts that calls may read, all of them; any: all'],
  maxLogRange: ['--max-log-range <blocks>', 'Most blocks of one eth_getLogs; any: as the plan'],
} as const;

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
