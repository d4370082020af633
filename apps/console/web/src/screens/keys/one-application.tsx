import { formatDate, formatTime } from '../../lib/format.js';
import { useRoute } from '../../lib/route.js';
import { MayChange, OperatorsOnly } from '../../parts/changes.js';
import { Facts, LastUse } from '../../parts/facts.js';
import { ChangeLogLink } from '../../parts/navigation.js';
import { Page } from '../../parts/page.js';
import { Read } from '../../parts/states.js';
import { ReadTable } from '../../parts/table.js';
import { ApplicationState, KeyLink } from './application.js';
import { ApplicationActions } from './application-forms.js';
import { KeyState } from './key-state.js';
import { NewKey } from './new-key.js';
import { RequestLog } from './request-log.js';
import { UsageCharts } from './usage-charts.js';

const PAGE = 100;

/** One application: who answers for it, its keys, and what all of them use together. */
export function OneApplication({ name }: { name: string }) {
  const { after } = useRoute().query;
  return (
    <Page
      title={name}
      heading={<bdi>{name}</bdi>}
      above={[['keys', 'API keys']]}
      actions={<ChangeLogLink subject={`application ${name}`} />}
    >
      <Read name="applications/show" input={{ application: name }} everyMs={10_000}>
        {(row) => (
          <>
            <Facts
              rows={{
                State: <ApplicationState row={row} />,
                Owner: row.owner === null ? 'none' : <bdi>{row.owner}</bdi>,
                Contact: <bdi>{row.contact || 'not given'}</bdi>,
                Description: <bdi>{row.description || 'not given'}</bdi>,
                'Last used': <LastUse at={row.lastUsedAt} />,
                Created: formatDate(row.createdAt),
              }}
            />
            <ApplicationActions row={row} />
            <h2>Keys</h2>
            <ReadTable
              // Read anew when all keys were revoked.
              key={row.archivedAt}
              above={
                row.archivedAt === null && (
                  <OperatorsOnly>
                    <NewKey application={name} />
                  </OperatorsOnly>
                )
              }
              name="keys"
              input={{ application: name, after, limit: PAGE }}
              everyMs={10_000}
              label="Keys"
              keyOf={({ id }) => id}
              empty="No keys yet. Clients need one to read published files."
              columns={{
                Key: ({ prefix }) => <KeyLink prefix={prefix} />,
                State: (key) => <KeyState row={key} />,
                Plan: ({ plan }) => plan,
                Network: ({ network }) => network ?? 'all',
                'Last used': ({ lastUsedAt }) => <LastUse at={lastUsedAt} />,
                Created: ({ createdAt }) => <span class="word">{formatTime(createdAt)}</span>,
              }}
              pages={{ path: 'keys', query: { application: name }, next: ({ id }) => ({ after: id }) }}
            />
            <UsageCharts of={{ application: name }} />
            <MayChange>
              <RequestLog of={{ application: name }} />
            </MayChange>
          </>
        )}
      </Read>
    </Page>
  );
}
