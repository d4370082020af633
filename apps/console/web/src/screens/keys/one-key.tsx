import type { ComponentChildren } from 'preact';
import { getNow } from '../../lib/clock.js';
import { formatCount, formatDate, formatDuration } from '../../lib/format.js';
import { toHref } from '../../lib/route.js';
import { MayChange } from '../../parts/changes.js';
import { Facts, LastUse } from '../../parts/facts.js';
import { ChangeLogLink } from '../../parts/navigation.js';
import { Page } from '../../parts/page.js';
import { Empty, Read } from '../../parts/states.js';
import { toApplication } from './application.js';
import { KeyActions } from './key-actions.js';
import type { KeyRow } from './key-condition.js';
import { KeyState } from './key-state.js';
import { RequestLog } from './request-log.js';
import { UsageCharts } from './usage-charts.js';

/** One key with its usage. */
export function OneKey({ prefix }: { prefix: string }) {
  return (
    <Page
      title={`Key ${prefix}`}
      heading={
        <>
          Key <code>{prefix}</code>
        </>
      }
      above={[['keys', 'API keys']]}
      actions={<ChangeLogLink subject={`key ${prefix}`} />}
    >
      <Read name="keys" input={{ search: prefix, limit: 1 }} everyMs={10_000}>
        {({ rows: [row] }) =>
          row === undefined || row.prefix !== prefix ? (
            <Empty>
              Unknown key. <a href={toHref('keys')}>Search</a> by its application.
            </Empty>
          ) : (
            <>
              <KeyFacts
                row={row}
                application={
                  <a href={toApplication(row.application)}>
                    <bdi>{row.application}</bdi>
                  </a>
                }
              />
              {row.revokedAt === null && <KeyActions row={row} />}
              <UsageCharts of={{ key: prefix }} />
              <MayChange>
                <RequestLog of={{ key: prefix }} />
              </MayChange>
            </>
          )
        }
      </Read>
    </Page>
  );
}

/** A date, and how long it is until then. */
function Until({ at }: { at: string }) {
  const left = Date.parse(at) - getNow();
  return (
    <>
      {formatDate(at)} {left > 0 && <span class="faint">({formatDuration(left)} left)</span>}
    </>
  );
}

/** `application`: how its application is shown, if not by its name. */
export function KeyFacts({ row, application }: { row: KeyRow; application?: ComponentChildren }) {
  const list = (values: readonly string[]): string => values.join(', ') || 'all';
  return (
    <Facts
      rows={{
        Application: application ?? <bdi>{row.application}</bdi>,
        State: <KeyState row={row} />,
        'Last used': <LastUse at={row.lastUsedAt} />,
        ...(row.oldSecretUntil === null
          ? {}
          : { 'Old secret works until': <Until at={row.oldSecretUntil} /> }),
        Plan: row.plan,
        Network: row.network ?? 'all',
        Created: formatDate(row.createdAt),
        Expires: row.expiresAt === null ? 'never' : <Until at={row.expiresAt} />,
        'Allowed origins': list(row.origins),
        'Allowed addresses': list(row.addresses),
        'Allowed methods': list(row.methods),
        'Allowed contracts': list(row.contracts),
        'Max blocks per eth_getLogs':
          row.maxLogRange === null ? 'as in the plan' : formatCount(row.maxLogRange),
      }}
    />
  );
}
