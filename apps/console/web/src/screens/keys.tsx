import { useState } from 'preact/hooks';
import { dateTime } from '../lib/format.js';
import { hrefOf, useRoute } from '../lib/route.js';
import { useRead } from '../lib/use-read.js';
import { ChangeForm, linesOf, textOf } from '../parts/change-form.js';
import { Copy } from '../parts/copy.js';
import { Empty, Shown } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { type KeyRow, OneKey } from './one-key.js';
import { type Plan, Plans } from './plans.js';

const PAGE = 100;

/** Keys with their applications, one of them, and the plans. */
export function Keys({ mayChange, isAdmin }: { mayChange: boolean; isAdmin: boolean }) {
  const { path } = useRoute();
  const [, prefix] = path.split('/');
  if (prefix === 'plans') return <Plans isAdmin={isAdmin} />;
  if (prefix !== undefined && prefix !== '')
    return <OneKey key={prefix} prefix={prefix} mayChange={mayChange} />;
  return <KeyList mayChange={mayChange} />;
}

function KeyList({ mayChange }: { mayChange: boolean }) {
  const { query } = useRoute();
  const [search, after] = [query.get('search') || undefined, query.get('after') ?? undefined];
  const reading = useRead<{ rows: KeyRow[]; more: boolean }>('keys', { search, after, limit: PAGE }, 10_000);
  const find = (event: SubmitEvent): void => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget as HTMLFormElement).get('search')).trim();
    location.hash = hrefOf('keys', { search: text === '' ? undefined : text });
  };
  return (
    <>
      <h1>Keys</h1>
      <p>
        <a href={hrefOf('keys/plans')}>Plans and their limits</a>
      </p>
      {mayChange && <NewKey done={reading.again} />}
      <form onSubmit={find} class="actions">
        <label>
          Application or prefix <input name="search" key={search} defaultValue={search} maxLength={100} />
        </label>
        <button type="submit">Search</button>
        {search !== undefined && <a href={hrefOf('keys')}>All</a>}
      </form>
      <Shown reading={reading}>
        {({ rows, more }) => (
          <>
            {rows.length === 0 ? (
              <Empty>
                {search === undefined
                  ? 'There is no key. Create one above: without a key nobody can read what is published.'
                  : `No key’s application holds “${search}”, and no prefix begins with it.`}
              </Empty>
            ) : (
              <Table
                label="Keys"
                rows={rows}
                keyOf={(row) => row.id}
                columns={[
                  {
                    title: 'Key',
                    cell: (row) => (
                      <a href={hrefOf(`keys/${row.prefix}`)}>
                        <code>{row.prefix}</code>
                      </a>
                    ),
                  },
                  { title: 'Application', cell: (row) => <bdi>{row.application}</bdi> },
                  { title: 'Plan', cell: (row) => row.plan },
                  { title: 'Network', cell: (row) => row.network ?? 'all' },
                  { title: 'Created', cell: (row) => dateTime(row.createdAt) },
                  { title: 'State', cell: (row) => stateOf(row) },
                ]}
              />
            )}
            <p class="pages">
              {after !== undefined && <a href={hrefOf('keys', { search })}>First</a>}
              {more && <a href={hrefOf('keys', { search, after: rows.at(-1)?.id })}>Next</a>}
            </p>
          </>
        )}
      </Shown>
    </>
  );
}

function stateOf({ revokedAt, expiresAt }: KeyRow) {
  if (revokedAt !== null) return <span class="bad">revoked {dateTime(revokedAt)}</span>;
  if (expiresAt === null) return <span class="good">valid</span>;
  const over = new Date(expiresAt).getTime() <= Date.now();
  return over ? <span class="bad">expired {dateTime(expiresAt)}</span> : `valid until ${dateTime(expiresAt)}`;
}

function NewKey({ done }: { done: () => void }) {
  const [made, setMade] = useState<{ apiKey: string; prefix: string } | null>(null);
  const plans = useRead<Plan[]>('plans', {}, 60_000);
  const networks = useRead<{ id: string }[]>('networks', {}, 60_000);
  if (made !== null) {
    return (
      <div class="card">
        <p>
          The key <code>{made.prefix}</code>. <strong>It is shown only this once</strong>; give it to its
          holder.
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
      <summary>Create a key</summary>
      <ChangeForm<{ apiKey: string; prefix: string }>
        name="keys/create"
        submit="Create"
        inputOf={(form) => {
          const day = textOf(form, 'expiresAt');
          return {
            ...{ application: textOf(form, 'application'), plan: textOf(form, 'plan') },
            network: textOf(form, 'network') ?? null,
            expiresAt: day === undefined ? null : new Date(`${day}T23:59:59`).toISOString(),
            ...{ origins: linesOf(form, 'origins'), addresses: linesOf(form, 'addresses') },
            methods: linesOf(form, 'methods'),
          };
        }}
        done={(key) => {
          setMade(key);
          done();
        }}
      >
        <label>
          Application <input name="application" required maxLength={100} />
        </label>
        <label>
          Plan{' '}
          <select name="plan">
            {(plans.value ?? []).map(({ name }) => (
              <option key={name} selected={name === 'standard'}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Network{' '}
          <select name="network">
            <option value="">all</option>
            {(networks.value ?? []).map(({ id }) => (
              <option key={id}>{id}</option>
            ))}
          </select>
        </label>
        <label>
          Ends at the end of <input type="date" name="expiresAt" /> (empty: never)
        </label>
        <label>
          Only from these browser origins, one a line
          <textarea name="origins" rows={2} placeholder="https://*.example.com" />
        </label>
        <label>
          Only from these addresses, one a line
          <textarea name="addresses" rows={2} placeholder="10.0.0.0/8" />
        </label>
        <label>
          Only these methods, one a line
          <textarea name="methods" rows={2} placeholder="eth_call" />
        </label>
      </ChangeForm>
    </details>
  );
}
