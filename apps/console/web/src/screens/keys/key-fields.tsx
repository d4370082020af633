import { toLines, toNumber, toText } from '../../lib/form-values.js';
import { toLocalIso } from '../../lib/format.js';
import { useRead } from '../../lib/use-read.js';
import { useIsAdmin } from '../../lib/use-session.js';
import { ALL, Field, LinesField, NumberField, type Option, SelectField } from '../../parts/fields.js';
import { useNetworkIds } from '../../parts/networks.js';
import type { KeyRow } from './one-key.js';

/** Fields for the terms of a key: those of `row`, or of a new one. */
export function KeyFields({ row }: { row: KeyRow | null }) {
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
          label="Blocks of one eth_getLogs (empty: as the plan)"
          name="maxLogRange"
          value={row?.maxLogRange}
        />
      </div>
      <LinesField
        label="Allowed browser origins"
        name="origins"
        placeholder="https://*.example.com"
        value={[...(row?.origins ?? [])]}
      />
      <LinesField
        label="Allowed addresses"
        name="addresses"
        placeholder="10.0.0.0/8"
        value={[...(row?.addresses ?? [])]}
      />
      <LinesField
        label="Allowed methods"
        name="methods"
        placeholder="eth_call"
        value={[...(row?.methods ?? [])]}
      />
      <LinesField
        label="Allowed contracts"
        name="contracts"
        placeholder="0x…"
        value={[...(row?.contracts ?? [])]}
      />
    </>
  );
}

/** The terms in a form; an expiry that was not touched stays as it is, to the second. */
export function getKeyTerms(form: FormData, row: KeyRow | null) {
  const day = toText(form, 'expiresAt');
  const same = row !== null && (day ?? '') === toDay(row.expiresAt);
  const end = day === undefined ? null : new Date(`${day}T23:59:59`).toISOString();
  return {
    plan: toText(form, 'plan'),
    network: toText(form, 'network') ?? null,
    expiresAt: same ? undefined : end,
    origins: toLines(form, 'origins'),
    addresses: toLines(form, 'addresses'),
    methods: toLines(form, 'methods'),
    contracts: toLines(form, 'contracts'),
    maxLogRange: toNumber(form, 'maxLogRange'),
  };
}

const toDay = (date: string | null): string => (date === null ? '' : toLocalIso(date).slice(0, 10));
