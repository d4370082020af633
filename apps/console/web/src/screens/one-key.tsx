import { dateTime } from '../lib/format.js';
import { hrefOf } from '../lib/route.js';
import { useRead } from '../lib/use-read.js';
import { ActionButton } from '../parts/action-button.js';
import { Empty, Shown } from '../parts/states.js';
import { UsageCharts } from './usage-charts.js';

export interface KeyRow {
  id: number;
  prefix: string;
  application: string;
  network: string | null;
  plan: string;
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
  origins: string[];
  addresses: string[];
  methods: string[];
}

/** One key: what it may do, what it used, and its end. */
export function OneKey({ prefix, mayChange }: { prefix: string; mayChange: boolean }) {
  const reading = useRead<{ rows: KeyRow[] }>('keys', { search: prefix, limit: 1 }, 10_000);
  return (
    <>
      <p>
        <a href={hrefOf('keys')}>Keys</a>
      </p>
      <h1>
        Key <code>{prefix}</code>
      </h1>
      <Shown reading={reading}>
        {({ rows: [row] }) =>
          row === undefined || row.prefix !== prefix ? (
            <Empty>
              There is no such key. <a href={hrefOf('keys')}>Search for it</a> by its application.
            </Empty>
          ) : (
            <>
              <KeyFacts row={row} />
              <p class="actions">
                {mayChange && row.revokedAt === null && (
                  <ActionButton
                    name="keys/revoke"
                    input={{ key: prefix }}
                    confirm={`Revoke ${prefix} of ${row.application}? Every gateway refuses it within a second, and it never works again.`}
                    done={reading.again}
                  >
                    Revoke
                  </ActionButton>
                )}
                <a href={hrefOf('changes', { subject: `key ${prefix}` })}>Who changed it</a>
              </p>
              <UsageCharts name="keys/usage" input={{ key: prefix }} />
            </>
          )
        }
      </Shown>
    </>
  );
}

export function KeyFacts({ row }: { row: KeyRow }) {
  const only = (values: readonly string[]): string => (values.length === 0 ? 'all' : values.join(', '));
  return (
    <dl class="facts">
      <dt>Application</dt>
      <dd>
        <bdi>{row.application}</bdi>
      </dd>
      <dt>Plan</dt>
      <dd>{row.plan}</dd>
      <dt>Network</dt>
      <dd>{row.network ?? 'all'}</dd>
      <dt>Created</dt>
      <dd>{dateTime(row.createdAt)}</dd>
      <dt>Ends</dt>
      <dd>
        {row.revokedAt !== null
          ? `revoked ${dateTime(row.revokedAt)}`
          : row.expiresAt === null
            ? 'never'
            : dateTime(row.expiresAt)}
      </dd>
      <dt>Origins</dt>
      <dd>{only(row.origins)}</dd>
      <dt>Addresses</dt>
      <dd>{only(row.addresses)}</dd>
      <dt>Methods</dt>
      <dd>{only(row.methods)}</dd>
    </dl>
  );
}
