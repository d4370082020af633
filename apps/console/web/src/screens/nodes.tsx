import { useState } from 'preact/hooks';
import { ago, count, dateTime } from '../lib/format.js';
import { useRoute } from '../lib/route.js';
import { useRead } from '../lib/use-read.js';
import { ActionButton } from '../parts/action-button.js';
import { Empty, Shown } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';

type State = 'ok' | 'resting' | 'another-chain' | 'another-branch' | 'distrusted' | 'cordoned';

interface Node {
  network: string;
  upstream: string;
  provider: string | null;
  client: string | null;
  head: number | null;
  lag: number | null;
  inFlight: number;
  maxInFlight: number;
  lies: number;
  methods: { method: string; calls: number; ms: number | null }[];
  errors: { meaning: string; calls: number }[];
  can: string[];
  lacks: string[];
  cordon: { who: string; why: string; at: string } | null;
  keptBack: string | null;
  lastError: string | null;
  processes: { process: string; role: string; host: string; seenAt: string; state: State }[];
}

const WORDS: Readonly<Record<State, string>> = {
  ok: 'asked',
  resting: 'rests after failures',
  'another-chain': 'serves another chain: not asked',
  'another-branch': 'is on another branch: asked last',
  distrusted: 'failed a proof: asked last',
  cordoned: 'cordoned',
};

/** The nodes that ingesters and gateways ask. */
export function Nodes({ mayChange }: { mayChange: boolean }) {
  const { query } = useRoute();
  const network = query.get('network');
  const reading = useRead<Node[]>('nodes');
  return (
    <>
      <h1>Nodes</h1>
      <p class="faint">
        Calls, latency and errors are of the last five minutes, all processes together; lies since each began.
      </p>
      <Shown reading={reading}>
        {(all) => {
          const rows = all.filter((each) => network === null || each.network === network);
          return rows.length === 0 ? (
            <Empty>
              No ingester and no gateway reported a node in the last 15 s. Start one with a networks file:{' '}
              <code>packhouse ingester</code> or <code>packhouse gateway</code>.
            </Empty>
          ) : (
            <div class="roomy">
              <Table
                label="Nodes"
                rows={rows}
                keyOf={(row) => JSON.stringify([row.network, row.upstream])}
                columns={columns(mayChange)}
              />
            </div>
          );
        }}
      </Shown>
    </>
  );
}

function columns(mayChange: boolean): Column<Node>[] {
  return [
    { title: 'Network', cell: ({ network }) => <bdi>{network}</bdi> },
    {
      title: 'Node',
      cell: ({ upstream, provider, client }) => (
        <>
          <strong>
            <bdi>{upstream}</bdi>
          </strong>
          {provider !== null && provider !== upstream && (
            <div class="faint">
              of <bdi>{provider}</bdi>
            </div>
          )}
          {client !== null && <div class="faint">{client}</div>}
        </>
      ),
    },
    { title: 'State', cell: (row) => <Standing row={row} /> },
    { title: 'Head', number: true, cell: (row) => <Head row={row} /> },
    { title: 'Latency by method', cell: ({ methods }) => <Methods methods={methods} /> },
    {
      title: 'Errors',
      cell: ({ errors, lastError }) => (
        <>
          {errors.length === 0 && <span class="good">none</span>}
          <ul class="plain">
            {errors.map(({ meaning, calls }) => (
              <li key={meaning}>
                {count(calls)} <code>{meaning}</code>
              </li>
            ))}
          </ul>
          {lastError !== null && (
            <details>
              <summary>the last one</summary>
              {lastError}
            </details>
          )}
        </>
      ),
    },
    {
      title: 'In flight',
      number: true,
      cell: ({ inFlight, maxInFlight, keptBack }) => (
        <>
          {count(inFlight)} of {count(maxInFlight)}
          {keptBack !== null && (
            <details>
              <summary class="wait">budget used up</summary>
              {keptBack}
            </details>
          )}
        </>
      ),
    },
    {
      title: 'Lies',
      number: true,
      cell: ({ lies }) => <span class={lies > 0 ? 'bad' : undefined}>{count(lies)}</span>,
    },
    {
      title: 'Can and lacks',
      cell: ({ can, lacks }) => (
        <>
          {can.length > 0 && <div>can: {can.join(', ')}</div>}
          {lacks.length > 0 && <div class="wait">lacks: {lacks.join(', ')}</div>}
        </>
      ),
    },
    ...(mayChange ? [{ title: 'Change', cell: (row: Node) => <Change row={row} /> }] : []),
  ];
}

function Standing({ row: { cordon, processes } }: { row: Node }) {
  const states = [...new Set(processes.map(({ state }) => state))];
  return (
    <>
      {cordon !== null && (
        <div class="wait" title={dateTime(cordon.at)}>
          cordoned by <bdi>{cordon.who}</bdi> {ago(cordon.at)}: <bdi>{cordon.why}</bdi>
        </div>
      )}
      {processes.length === 0 && <span class="faint">no process asks it</span>}
      {cordon === null &&
        states.map((state) => (
          <div key={state} class={state === 'ok' ? 'good' : 'bad'}>
            {WORDS[state]}
            {states.length > 1 &&
              ` by ${processes.filter((each) => each.state === state).length} of ${processes.length}`}
          </div>
        ))}
      {processes.length > 0 && (
        <details>
          <summary>{processes.length === 1 ? '1 process' : `${count(processes.length)} processes`}</summary>
          <ul class="plain">
            {processes.map(({ process, role, host, state }) => (
              <li key={process}>
                {role} {process.slice(0, 8)} on <bdi>{host}</bdi>: {WORDS[state]}
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
      {count(head)}
      {lag !== null && lag > 0 && <div class="wait">{count(lag)} behind</div>}
    </>
  );
}

/** Methods that are shown before the others are asked for. */
const SHOWN = 3;

function Methods({ methods }: { methods: Node['methods'] }) {
  if (methods.length === 0) return <span class="faint">not asked</span>;
  const lines = methods.map(({ method, calls, ms }) => (
    <li key={method}>
      <code>{method}</code> {ms === null ? 'no answer' : `${count(ms)} ms`}, {count(calls)} calls
    </li>
  ));
  return (
    <>
      <ul class="plain">{lines.slice(0, SHOWN)}</ul>
      {lines.length > SHOWN && (
        <details>
          <summary>{count(lines.length - SHOWN)} more</summary>
          <ul class="plain">{lines.slice(SHOWN)}</ul>
        </details>
      )}
    </>
  );
}

function Change({ row: { cordon, network, upstream } }: { row: Node }) {
  const [why, setWhy] = useState('');
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
      <label>
        Why <input value={why} maxLength={500} onInput={(event) => setWhy(event.currentTarget.value)} />
      </label>
      <ActionButton name="nodes/cordon" input={{ ...input, why }} done={() => setWhy('')}>
        Ask it no more
      </ActionButton>
    </details>
  );
}
