import type { Answer } from '../../lib/answers.js';
import { getNow } from '../../lib/clock.js';
import { formatBytes, formatCount, formatDate, formatTime, pluralize } from '../../lib/format.js';
import { useIsAdmin, useIsOwner } from '../../lib/hooks/use-session.js';
import { Button } from '../../parts/button.js';
import { useChange } from '../../parts/changes.js';
import { Problem, Read } from '../../parts/states.js';
import { type Columns, Table } from '../../parts/table.js';
import { KeyLink } from './application.js';

/** Minutes for which it is on: after that gateways end it, also if the page was closed. */
const MINUTES = 10;
/** With parameters. */
const PARAMS_MINUTES = 15;
const EVERY_MS = 2_000;
const SHOWN = 100;

type Log = Answer<'keys/requests'>;
type KeyRequest = Log['requests'][number];

/** Whose requests: a key, all keys of an application, or the key that signed in. */
type Of = { key: string } | { application: string } | null;

/** The last requests, as they come while the log is on: parameters only if an admin or owner asks. */
export const RequestLog = ({ of }: { of: Of }) => (
  <section aria-label="Requests">
    <h2>Requests</h2>
    <Read
      name={of === null ? 'own/requests' : 'keys/requests'}
      input={{ limit: SHOWN, ...of }}
      everyMs={EVERY_MS}
    >
      {(log) => <Requests log={log} of={of} />}
    </Read>
  </section>
);

function Requests({ log: { loggedUntil, paramsUntil, requests }, of }: { log: Log; of: Of }) {
  const { busy, error, start } = useChange({ name: of === null ? 'own/log' : 'keys/log' });
  const isOn = loggedUntil !== null && Date.parse(loggedUntil) > getNow();
  const hasParams = paramsUntil !== null && Date.parse(paramsUntil) > getNow();
  const [isAdmin, isOwner] = [useIsAdmin(), useIsOwner()];
  const mayAsk = (isAdmin || isOwner) && of !== null && 'key' in of;
  const set = (minutes: number, params?: true) => () => start(() => ({ ...of, minutes, params }));
  return (
    <>
      <p class="actions">
        <Button busy={busy} onClick={set(isOn ? 0 : MINUTES)}>
          {isOn ? 'Stop' : `Watch for ${MINUTES} minutes`}
        </Button>
        {mayAsk && !hasParams && (
          <Button busy={busy} onClick={set(PARAMS_MINUTES, true)}>
            With parameters for {PARAMS_MINUTES} minutes
          </Button>
        )}
        <span class="faint" role="status">
          {isOn
            ? `On until ${formatTime(loggedUntil)}${hasParams ? ', with parameters (shortened, without secrets)' : ''}.`
            : 'Off. When on, gateways log method, status, duration and units; parameters only if an admin or owner asks.'}
        </span>
      </p>
      {error !== null && <Problem error={error} />}
      {(isOn || requests.length > 0) && (
        <Table
          label="Requests"
          rows={requests}
          keyOf={(row) => row.id}
          empty="No requests yet."
          numbers={['Status', 'Calls', 'Duration', 'Units', 'Data sent']}
          columns={getColumns(of, requests)}
        />
      )}
    </>
  );
}

/** Where requests of several keys are shown. */
const KEY = { Key: ({ prefix }: KeyRequest) => <KeyLink prefix={prefix} /> };

const PARAMS = {
  Parameters: ({ params }: KeyRequest) =>
    params !== null && (
      <code>
        <bdi>{params}</bdi>
      </code>
    ),
};

function getColumns(of: Of, requests: readonly KeyRequest[]): Columns<KeyRequest> {
  const columns = requests.some(({ params }) => params !== null) ? { ...COLUMNS, ...PARAMS } : COLUMNS;
  return of !== null && 'application' in of ? { ...KEY, ...columns } : columns;
}

const COLUMNS = {
  Time: (row: KeyRequest) => formatDate(row.at),
  Network: (row: KeyRequest) => row.network,
  Method: (row: KeyRequest) => (
    <>
      <bdi>{row.method}</bdi>
      {row.leftOut > 0 && (
        <span class="faint"> after {pluralize(row.leftOut, 'request')} not logged (too many at once)</span>
      )}
    </>
  ),
  Status: (row: KeyRequest) => row.status,
  Outcome: (row: KeyRequest) => <span class={row.outcome === 'ok' ? 'good' : 'bad'}>{row.outcome}</span>,
  Calls: (row: KeyRequest) => formatCount(row.calls),
  Duration: (row: KeyRequest) => `${formatCount(Math.round(row.ms * 10) / 10)} ms`,
  Units: (row: KeyRequest) => formatCount(row.units),
  'Data sent': (row: KeyRequest) => formatBytes(row.bytes),
};
