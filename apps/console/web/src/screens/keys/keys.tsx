import { useState } from 'preact/hooks';
import { toText } from '../../lib/form-values.js';
import { formatTime } from '../../lib/format.js';
import { toHref, useRoute } from '../../lib/route.js';
import { ChangeForm, MayChange } from '../../parts/changes.js';
import { ShownOnce } from '../../parts/copy.js';
import { Ago } from '../../parts/facts.js';
import { Field } from '../../parts/fields.js';
import { ChangeLogLink, SearchForm } from '../../parts/navigation.js';
import { Page } from '../../parts/page.js';
import { ReadTable } from '../../parts/table.js';
import { getKeyTerms, KeyFields } from './key-fields.js';
import { KeyState } from './key-state.js';
import { OneKey } from './one-key.js';

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
          Application: (row) => (
            <strong>
              <bdi>{row.application}</bdi>
            </strong>
          ),
          Key: (row) => (
            <a class="word" href={toHref(`keys/${row.prefix}`)}>
              <code>{row.prefix}</code>
            </a>
          ),
          State: (row) => <KeyState row={row} />,
          Plan: (row) => row.plan,
          Network: (row) => row.network ?? 'all',
          'Last used': (row) =>
            row.lastUsedAt === null ? <span class="faint">never</span> : <Ago at={row.lastUsedAt} />,
          Created: (row) => <span class="word">{formatTime(row.createdAt)}</span>,
        }}
        pages={{ path: 'keys', query: { search }, next: ({ id }) => ({ after: id }) }}
      />
    </Page>
  );
}

/** The form for a key, and then the key, once. */
export function NewKey({ onMade }: { onMade?: (apiKey: string) => void }) {
  const [made, setMade] = useState<{ apiKey: string; prefix: string } | null>(null);
  if (made !== null) {
    return (
      <ShownOnce text={made.apiKey} label="the key" done={() => setMade(null)}>
        Key <code>{made.prefix}</code>.
      </ShownOnce>
    );
  }
  return (
    <details>
      <summary>New key</summary>
      <ChangeForm
        name="keys/create"
        submit="Create"
        getInput={(form) => ({ application: toText(form, 'application'), ...getKeyTerms(form, null) })}
        done={(key) => {
          setMade(key);
          onMade?.(key.apiKey);
        }}
      >
        <Field label="Application" name="application" required maxLength={100} />
        <KeyFields row={null} />
      </ChangeForm>
    </details>
  );
}
