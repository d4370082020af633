import { useState } from 'preact/hooks';
import { toLines, toNumber, toText } from '../../lib/form-values.js';
import { formatDate } from '../../lib/format.js';
import { toHref, useRoute } from '../../lib/route.js';
import { useRead } from '../../lib/use-read.js';
import { useIsAdmin } from '../../lib/use-session.js';
import { ChangeForm, MayChange } from '../../parts/changes.js';
import { Copy } from '../../parts/copy.js';
import { ALL, Field, LinesField, NumberField, type Option, SelectField } from '../../parts/fields.js';
import { ChangeLogLink, SearchForm } from '../../parts/navigation.js';
import { useNetworkIds } from '../../parts/networks.js';
import { Page } from '../../parts/page.js';
import { ReadTable } from '../../parts/table.js';
import { type KeyRow, OneKey } from './one-key.js';

const PAGE = 100;

/** Keys with their applications, and one of them. */
export function Keys() {
  const [, prefix] = useRoute().parts;
  return prefix === undefined ? <KeyList /> : <OneKey key={prefix} prefix={prefix} />;
}

function KeyList() {
  const { search, after } = useRoute().query;
  return (
    <Page title="API keys" actions={<ChangeLogLink subject="key" />}>
      <ReadTable
        name="keys"
        input={{ search, after, limit: PAGE }}
        everyMs={10_000}
        above={
          <>
            <MayChange>
              <NewKey />
            </MayChange>
            <SearchForm
              path="keys"
              name="search"
              value={search}
              label="Application or prefix"
              submit="Search"
            />
          </>
        }
        label="Keys"
        keyOf={(row) => row.id}
        empty={
          search === undefined
            ? 'No keys yet. Clients need one to read what is published.'
            : `No application contains “${search}”, and no prefix starts with it.`
        }
        columns={{
          Key: (row) => (
            <a href={toHref(`keys/${row.prefix}`)}>
              <code>{row.prefix}</code>
            </a>
          ),
          Application: (row) => <bdi>{row.application}</bdi>,
          Plan: (row) => row.plan,
          Network: (row) => row.network ?? 'all',
          Created: (row) => formatDate(row.createdAt),
          State: toState,
        }}
        pages={{ path: 'keys', query: { search }, next: ({ id }) => ({ after: id }) }}
      />
    </Page>
  );
}

function toState({ revokedAt, expiresAt }: KeyRow) {
  if (revokedAt !== null) return <span class="bad">revoked {formatDate(revokedAt)}</span>;
  if (expiresAt === null) return <span class="good">active</span>;
  const over = new Date(expiresAt).getTime() <= Date.now();
  return over ? (
    <span class="bad">expired {formatDate(expiresAt)}</span>
  ) : (
    `active until ${formatDate(expiresAt)}`
  );
}

function NewKey() {
  const [made, setMade] = useState<{ apiKey: string; prefix: string } | null>(null);
  const isAdmin = useIsAdmin();
  const plans = (useRead('plans', {}, 60_000).value ?? []).map(
    ({ name, unlimited }): Option => (unlimited && !isAdmin ? [name, `${name} (admins only)`, true] : name),
  );
  const networks = useNetworkIds();
  if (made !== null) {
    return (
      <div class="card">
        <p>
          Key <code>{made.prefix}</code>. <strong>Copy it now: it is shown only once.</strong>
        </p>
        <Copy text={made.apiKey} label="the key" />
        <button type="button" onClick={() => setMade(null)}>
          Done
        </button>
      </div>
    );
  }
  return (
    <details>
      <summary>New key</summary>
      <ChangeForm
        name="keys/create"
        submit="Create"
        getInput={(form) => {
          const day = toText(form, 'expiresAt');
          return {
            application: toText(form, 'application'),
            plan: toText(form, 'plan'),
            network: toText(form, 'network') ?? null,
            expiresAt: day === undefined ? null : new Date(`${day}T23:59:59`).toISOString(),
            origins: toLines(form, 'origins'),
            addresses: toLines(form, 'addresses'),
            methods: toLines(form, 'methods'),
            contracts: toLines(form, 'contracts'),
            maxLogRange: toNumber(form, 'maxLogRange'),
          };
        }}
        done={setMade}
      >
        <Field label="Application" name="application" required maxLength={100} />
        <SelectField label="Plan" name="plan" options={plans} value="standard" />
        <SelectField label="Network" name="network" options={[ALL, ...networks]} />
        <Field label="Last day (empty: never expires)" type="date" name="expiresAt" />
        <LinesField label="Allowed browser origins" name="origins" placeholder="https://*.example.com" />
        <LinesField label="Allowed addresses" name="addresses" placeholder="10.0.0.0/8" />
        <LinesField label="Allowed methods" name="methods" placeholder="eth_call" />
        <LinesField label="Allowed contracts" name="contracts" placeholder="0x…" />
        <NumberField label="Blocks of one eth_getLogs (empty: as the plan)" name="maxLogRange" />
      </ChangeForm>
    </details>
  );
}
