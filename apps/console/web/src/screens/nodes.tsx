import { useState } from 'preact/hooks';
import { RowCurve } from '../history/curve-button.js';
import type { Answer } from '../lib/answers.js';
import { formatCount } from '../lib/format.js';
import { useRoute } from '../lib/route.js';
import { useMayChange } from '../lib/use-session.js';
import { ActionButton } from '../parts/changes.js';
import { Ago } from '../parts/facts.js';
import { Field } from '../parts/fields.js';
import { Page } from '../parts/page.js';
import { Read } from '../parts/states.js';
import { type Columns, Table } from '../parts/table.js';

type Node = Answer<'nodes'>[number];

const STATES: Readonly<Record<Node['processes'][number]['state'], string>> = {
  ok: 'active',
  resting: 'backing off after failures',
  'another-chain': 'wrong chain: not used',
  'left-out': 'another final block: not used',
  'another-branch': 'on another branch: used last',
  distrusted: 'failed a proof: used last',
  cordoned: 'cordoned',
};

/** The nodes of ingesters and gateways. */
export function Nodes() {
  const { network } = useRoute().query;
  const mayChange = useMayChange();
  return (
    <Page
      title="Nodes"
      lead="Calls, latency and errors cover the last five minutes of all processes; invalid responses count from the start of each process."
    >
      <Read name="nodes">
        {(rows) => (
          <div class="roomy">
            <Table
              label="Nodes"
              rows={rows.filter((each) => network === undefined || each.network === network)}
              keyOf={(row) => JSON.stringify([row.network, row.upstream])}
              numbers={NUMBERS}
              columns={mayChange ? { ...COLUMNS, Action: (row) => <CordonAction row={row} /> } : COLUMNS}
              empty={
                <>
                  No ingester or gateway reported a node in the last 15 s. Start one with a networks file:{' '}
                  <code>packhouse ingester</code> or <code>packhouse gateway</code>.
                </>
              }
            />
          </div>
        )}
      </Read>
    </Page>
  );
}

const NUMBERS = ['Head', 'In flight', 'Invalid responses'];
const COLUMNS: Columns<Node> = {
  Network: ({ network }) => <bdi>{network}</bdi>,
  Node: ({ upstream, provider, client }) => (
    <>
      <strong>
        <bdi>{upstream}</bdi>
      </strong>
      {provider !== null && provider !== upstream && (
        <div class="faint">
          Provider <bdi>{provider}</bdi>
        </div>
      )}
      {client !== null && <div class="faint">{client}</div>}
    </>
  ),
  State: (row) => <State row={row} />,
  Head: (row) => <Head row={row} />,
  'Latency by method': ({ methods }) => <Methods methods={methods} />,
  'Calls, last hour': ({ network, upstream }) => <RowCurve network={network} upstream={upstream} />,
  Errors: ({ errors, lastError }) => (
    <>
      {errors.length === 0 && <span class="good">none</span>}
      <ul class="plain">
        {errors.map(({ meaning, calls }) => (
          <li key={meaning}>
            {formatCount(calls)} <code>{meaning}</code>
          </li>
        ))}
      </ul>
      {lastError !== null && (
        <details>
          <summary>Last error</summary>
          {lastError}
        </details>
      )}
    </>
  ),
  'In flight': ({ inFlight, maxInFlight, throttledBy }) => (
    <>
      {formatCount(inFlight)} of {formatCount(maxInFlight)}
      {throttledBy !== null && (
        <details>
          <summary class="wait">throttled</summary>
          {throttledBy}
        </details>
      )}
    </>
  ),
  'Invalid responses': ({ invalidResponses }) => (
    <span class={invalidResponses > 0 ? 'bad' : undefined}>{formatCount(invalidResponses)}</span>
  ),
  Capabilities: ({ capabilities, missingCapabilities }) => (
    <>
      {capabilities.length > 0 && <div>{capabilities.join(', ')}</div>}
      {missingCapabilities.length > 0 && <div class="wait">missing: {missingCapabilities.join(', ')}</div>}
    </>
  ),
};

function State({ row: { cordon, leftOut, processes } }: { row: Node }) {
  const states = [...new Set(processes.map(({ state }) => state))];
  return (
    <>
      {cordon !== null && (
        <div class="wait">
          cordoned by <bdi>{cordon.actor}</bdi> <Ago at={cordon.at} />: <bdi>{cordon.reason}</bdi>
        </div>
      )}
      {processes.length === 0 && <span class="faint">not in use</span>}
      {cordon === null &&
        states.map((state) => (
          <div key={state} class={state === 'ok' ? 'good' : 'bad'}>
            {STATES[state]}
            {states.length > 1 &&
              ` in ${processes.filter((each) => each.state === state).length} of ${processes.length} processes`}
          </div>
        ))}
      {leftOut !== null && <div class="faint">{leftOut}</div>}
      {processes.length > 0 && (
        <details>
          <summary>
            {processes.length === 1 ? '1 process' : `${formatCount(processes.length)} processes`}
          </summary>
          <ul class="plain">
            {processes.map(({ process, role, host, state }) => (
              <li key={process}>
                {role} {process.slice(0, 8)} on <bdi>{host}</bdi>: {STATES[state]}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function Head({ row: { head, lag } }: { row: Node }) {
  if (head === null) return <span class="faint">unknown</span>;
  return (
    <>
      {formatCount(head)}
      {lag !== null && lag > 0 && <div class="wait">{formatCount(lag)} behind</div>}
    </>
  );
}

/** Methods that are shown at first. */
const MAX_METHODS = 3;

function Methods({ methods }: { methods: Node['methods'] }) {
  if (methods.length === 0) return <span class="faint">no calls</span>;
  const lines = methods.map(({ method, calls, ms }) => (
    <li key={method}>
      <code>{method}</code> {ms === null ? 'no response' : `${formatCount(ms)} ms`}, {formatCount(calls)}{' '}
      calls
    </li>
  ));
  return (
    <>
      <ul class="plain">{lines.slice(0, MAX_METHODS)}</ul>
      {lines.length > MAX_METHODS && (
        <details>
          <summary>{formatCount(lines.length - MAX_METHODS)} more</summary>
          <ul class="plain">{lines.slice(MAX_METHODS)}</ul>
        </details>
      )}
    </>
  );
}

function CordonAction({ row: { cordon, network, upstream } }: { row: Node }) {
  const [reason, setReason] = useState('');
  const input = { network, upstream };
  if (cordon !== null) {
    return (
      <ActionButton name="nodes/uncordon" input={input}>
        Uncordon
      </ActionButton>
    );
  }
  return (
    <details>
      <summary>Cordon</summary>
      <Field
        label="Reason"
        value={reason}
        maxLength={500}
        onInput={(event) => setReason(event.currentTarget.value)}
      />
      <ActionButton name="nodes/cordon" input={{ ...input, reason }} done={() => setReason('')}>
        Cordon
      </ActionButton>
    </details>
  );
}
