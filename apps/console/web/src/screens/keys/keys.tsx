import { formatCount, formatTime } from '../../lib/format.js';
import { useIsOwner } from '../../lib/hooks/use-session.js';
import { toHref, useRoute } from '../../lib/route.js';
import { OperatorsOnly } from '../../parts/changes.js';
import { LastUse, Name } from '../../parts/facts.js';
import { ChangeLogLink, SearchForm } from '../../parts/navigation.js';
import { Page } from '../../parts/page.js';
import { ReadTable } from '../../parts/table.js';
import { type Application, ApplicationState, KeyLink, toApplication } from './application.js';
import { NewApplication } from './application-forms.js';
import { NewKey } from './new-key.js';
import { OneApplication } from './one-application.js';
import { OneKey } from './one-key.js';

const PAGE = 100;

/** Applications with their keys; one of them; one key. */
export function Keys() {
  const { parts, query } = useRoute();
  const [, prefix] = parts;
  if (prefix !== undefined) return <OneKey key={prefix} prefix={prefix} />;
  const { application } = query;
  return application === undefined ? (
    <ApplicationList />
  ) : (
    <OneApplication key={application} name={application} />
  );
}

function ApplicationList() {
  const { search, archived, after } = useRoute().query;
  const isOwner = useIsOwner();
  return (
    <Page
      title={isOwner ? 'Applications' : 'API keys'}
      actions={
        <>
          <a href={toHref('keys', { search, archived: archived === undefined ? true : undefined })}>
            {archived === undefined ? 'Show archived' : 'Hide archived'}
          </a>
          <ChangeLogLink subject="key" />
        </>
      }
      lead="Keys belong to an application, which has an owner, usage and limits."
    >
      <ReadTable
        name="applications"
        input={{ search, archived, after, limit: PAGE }}
        everyMs={10_000}
        above={
          <>
            <OperatorsOnly>
              <div class="actions openers">
                <NewKey />
                <NewApplication />
              </div>
            </OperatorsOnly>
            <SearchForm
              path="keys"
              name="search"
              value={search}
              label="Application or prefix"
              submit="Search"
              query={{ archived }}
            />
          </>
        }
        label="Applications"
        keyOf={(row) => row.id}
        empty={toEmpty(search, isOwner)}
        columns={{
          Application: (row) => (
            <a href={toApplication(row.name)}>
              <Name>{row.name}</Name>
            </a>
          ),
          Keys: (row) => <KeyLinks row={row} />,
          Owner: (row) => (row.owner === null ? <span class="faint">none</span> : <bdi>{row.owner}</bdi>),
          State: (row) => <ApplicationState row={row} />,
          'Last used': (row) => <LastUse at={row.lastUsedAt} />,
          Created: (row) => <span class="word">{formatTime(row.createdAt)}</span>,
        }}
        pages={{ path: 'keys', query: { search, archived }, next: ({ id }) => ({ after: id }) }}
      />
    </Page>
  );
}

function toEmpty(search: string | undefined, isOwner: boolean): string {
  if (search !== undefined) return `No application name contains “${search}”, and no key starts with it.`;
  if (isOwner) return 'No application belongs to this account yet. Ask an operator for one.';
  return 'No applications yet. Clients need a key to read published files.';
}

/** The newest live keys, and how many more there are. */
function KeyLinks({ row: { name, liveKeys, prefixes } }: { row: Application }) {
  const more = liveKeys - prefixes.length;
  if (liveKeys === 0) return <span class="faint">no live keys</span>;
  return (
    <>
      {prefixes.map((prefix) => (
        <span key={prefix}>
          <KeyLink prefix={prefix} />{' '}
        </span>
      ))}
      {more > 0 && <a href={toApplication(name)}>and {formatCount(more)} more</a>}
    </>
  );
}
