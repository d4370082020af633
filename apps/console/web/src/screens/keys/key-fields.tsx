import type { ComponentChildren } from 'preact';
import { useRead } from '../../lib/hooks/use-read.js';
import { useIsAdmin, useIsOwner } from '../../lib/hooks/use-session.js';
import { ALL, type Option } from '../../parts/fields.js';
import { choice, type FormFields, lines, number, time } from '../../parts/form-fields.js';
import { useNetworkIds } from '../../parts/networks.js';

/** What owners change: from where a key is used, not what it opens. */
const OF_OWNERS = {
  origins: lines('Allowed browser origins', 'https://*.example.com'),
  addresses: lines('Allowed addresses', '10.0.0.0/8'),
};
const OF_OPERATORS = {
  ...OF_OWNERS,
  methods: lines('Allowed methods', 'eth_call'),
  contracts: lines('Allowed contracts', '0x…'),
};

/** What restricts the use of keys, as far as the one who signed in changes it. */
export const useRestrictions = (): FormFields => (useIsOwner() ? OF_OWNERS : OF_OPERATORS);

type Render = (fields: FormFields) => ComponentChildren;

/** Gives a form the terms of a key, as far as the one who signed in changes them. */
export const KeyFields = ({ children }: { children: Render }) =>
  useIsOwner() ? children(OF_OWNERS) : <AllFields>{children}</AllFields>;

function AllFields({ children }: { children: Render }) {
  const isAdmin = useIsAdmin();
  const plans = (useRead('plans', {}, 60_000).value ?? []).map(
    ({ name, unlimited }): Option => (unlimited && !isAdmin ? [name, `${name} (admins only)`, true] : name),
  );
  const networks = useNetworkIds();
  return (
    <>
      {children({
        plan: choice('Plan', plans),
        network: choice('Network', [ALL, ...networks]),
        expiresAt: time('Last day (empty: never expires)', 'date'),
        maxLogRange: number('Max blocks per eth_getLogs (empty: as in the plan)'),
        ...OF_OPERATORS,
      })}
    </>
  );
}
