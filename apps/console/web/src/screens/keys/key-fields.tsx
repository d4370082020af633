import { toLines, toNumber, toText } from '../../lib/form-values.js';
import { toLocalIso } from '../../lib/format.js';
import { useRead } from '../../lib/use-read.js';
import { useIsAdmin, useIsOwner } from '../../lib/use-session.js';
import { ALL, Field, LinesField, NumberField, type Option, SelectField } from '../../parts/fields.js';
import { useNetworkIds } from '../../parts/networks.js';
import type { KeyRow } from './key-condition.js';

/** What restricts the use of keys, a value per line. */
export const RESTRICTIONS = [
  { name: 'origins', label: 'Allowed browser origins', placeholder: 'https://*.example.com' },
  { name: 'addresses', label: 'Allowed addresses', placeholder: '10.0.0.0/8' },
  { name: 'methods', label: 'Allowed methods', placeholder: 'eth_call' },
  { name: 'contracts', label: 'Allowed contracts', placeholder: '0x…' },
] as const;
type Restriction = (typeof RESTRICTIONS)[number];

/** Those that owners change: from where a key is used, not what it opens. */
export const OF_OWNERS = RESTRICTIONS.filter(({ name }) => name === 'origins' || name === 'addresses');

/** Fields for the terms of a key: those of `row`, or of a new one. */
export const KeyFields = ({ row }: { row: KeyRow | null }) =>
  useIsOwner() ? <RestrictionFields row={row} names={OF_OWNERS} /> : <AllFields row={row} />;

const RestrictionFields = ({ row, names }: { row: KeyRow | null; names: readonly Restriction[] }) => (
  <>
    {names.map(({ name, label, placeholder }) => (
      <LinesField
        key={name}
        label={label}
        name={name}
        placeholder={placeholder}
        value={[...(row?.[name] ?? [])]}
      />
    ))}
  </>
);

function AllFields({ row }: { row: KeyRow | null }) {
  const isAdmin = useIsAdmin();
  const plans = (useRead('plans', {}, 60_000).value ?? []).map(
    ({ name, unlimited }): Option => (unlimited && !isAdmin ? [name, `${name} (admins only)`, true] : name),
  );
  const networks = useNetworkIds();
  return (
    <>
      <div class="form-grid">
        <SelectField label="Plan" name="plan" options={plans} value={row?.plan ?? 'standard'} />
        <SelectField
          label="Network"
          name="network"
          options={[ALL, ...networks]}
          value={row?.network ?? undefined}
        />
        <Field
          label="Last day (empty: never expires)"
          type="date"
          name="expiresAt"
          defaultValue={row === null ? '' : toDay(row.expiresAt)}
        />
        <NumberField
          label="Max blocks per eth_getLogs (empty: as in the plan)"
          name="maxLogRange"
          value={row?.maxLogRange}
        />
      </div>
      <RestrictionFields row={row} names={RESTRICTIONS} />
    </>
  );
}

/** The terms in a form; an expiry that was not touched stays as it is, to the second. */
export function getKeyTerms(form: FormData, row: KeyRow | null) {
  const origins = toLines(form, 'origins');
  const addresses = toLines(form, 'addresses');
  // The form of an owner has no other fields.
  if (!form.has('plan')) return { origins, addresses };
  const day = toText(form, 'expiresAt');
  const same = row !== null && (day ?? '') === toDay(row.expiresAt);
  const end = day === undefined ? null : new Date(`${day}T23:59:59`).toISOString();
  return {
    plan: toText(form, 'plan'),
    network: toText(form, 'network') ?? null,
    expiresAt: same ? undefined : end,
    origins,
    addresses,
    methods: toLines(form, 'methods'),
    contracts: toLines(form, 'contracts'),
    maxLogRange: toNumber(form, 'maxLogRange'),
  };
}

const toDay = (date: string | null): string => (date === null ? '' : toLocalIso(date).slice(0, 10));
