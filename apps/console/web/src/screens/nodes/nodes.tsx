import { useState } from 'preact/hooks';
import { RowCurve } from '../../history/curve-button.js';
import { getNow } from '../../lib/clock.js';
import { formatCount, formatDuration, formatTime, pluralize } from '../../lib/format.js';
import { useMayChange } from '../../lib/hooks/use-session.js';
import { toHref, useRoute } from '../../lib/route.js';
import { ActionButton } from '../../parts/changes.js';
import { Chip } from '../../parts/chip.js';
import { Ago, Name } from '../../parts/facts.js';
import { Field } from '../../parts/fields.js';
import { Page } from '../../parts/page.js';
import { ListFilter } from '../../parts/segments.js';
import { Empty, Read } from '../../parts/states.js';
import { type Columns, Table } from '../../parts/table.js';
import { getCalls, getCondition, getLatency, NODE_CONDITIONS, type Node, needsAction } from './node-state.js';

/** The nodes of ingesters and gateways, the worst first. */
export function Nodes() {
  const { network, search: given = '' } = useRoute().query;
  const [search, setSearch] = useState(given);
  const [onlyBad, setOnlyBad] = useState(false);
  const mayChange = useMayChange();
  return (
    <Page
      title="Nodes"
      lead="Calls, latency and errors over the last five minutes, in all processes; invalid responses since each process started."
    >
      <Read name="nodes">
        {(rows) => {
          const all = rows
            .filter((each) => network === undefined || each.network === network)
            .map((node) => ({ node, condition: getCondition(node) }));
          const bad = all.filter(({ condition }) => needsAction(condition));
          const shown = (onlyBad ? bad : all)
            .filter(({ node }) => `${node.network} ${node.upstream} ${node.provider}`.includes(search.trim()))
            .sort((a, b) => a.condition.rank - b.condition.rank)
            .map(({ node }) => node);
          if (all.length === 0) return <NoNodes />;
          return (
            <>
              <ListFilter
                label="Nodes"
                placeholder="Node, network or provider"
                search={search}
                setSearch={setSearch}
                options={{ all: `All ${all.length}`, bad: `Needs action ${bad.length}` }}
                value={onlyBad ? 'bad' : 'all'}
                choose={(value) => setOnlyBad(value === 'bad')}
              />
              <Table
                label="Nodes"
                rows={shown}
                keyOf={(row) => JSON.stringify([row.network, row.upstream])}
                numbers={NUMBERS}
                columns={mayChange ? { ...COLUMNS, Action: (row) => <CordonAction row={row} /> } : COLUMNS}
                empty={onlyBad ? 'No node needs action.' : 'No matching nodes.'}
              />
            </>
          );
        }}
      </Read>
    </Page>
  );
}

const NoNodes = () => (
  <Empty>
    No ingester or gateway reported a node in the last 15 s. Start one with a networks file:{' '}
    <code>packhouse ingester</code> or <code>packhouse gateway</code>.
  </Empty>
);

const NUMBERS = ['Head', 'Calls', 'Errors', 'In flight', 'Invalid'];
const COLUMNS: Columns<Node> = {
  Node: ({ client, network, provider, upstream }) => (
    <>
      <Name>{upstream}</Name>
      <div class="faint">
        <bdi>{network}</bdi>
        {provider !== null && provider !== upstream && (
          <>
            {', '}
            <bdi>{provider}</bdi>
          </>
        )}
        {client !== null && (
          <>
            {', '}
            <bdi title={client}>{client.split('-')[0]}</bdi>
          </>
        )}
      </div>
    </>
  ),
  State: (row) => <State row={row} />,
  Head: (row) => <Head row={row} />,
  Calls: (row) => formatCount(getCalls(row).calls),
  'Calls, last hour': ({ network, upstream }) => <RowCurve network={network} upstream={upstream} />,
  Latency: (row) => <Latency row={row} />,
  Errors: (row) => <Errors row={row} />,
  'In flight': ({ inFlight, maxInFlight, throttledBy }) => (
    <>
      {formatCount(inFlight)} of {formatCount(maxInFlight)}
      {throttledBy !== null && (
        <div class="wait" title={throttledBy}>
          throttled by its budget
        </div>
      )}
    </>
  ),
  Invalid: ({ invalidResponses }) => (
    <span class={invalidResponses > 0 ? 'bad' : undefined}>{formatCount(invalidResponses)}</span>
  ),
  Capabilities: ({ capabilities, missingCapabilities }) => (
    <>
      {capabilities.length > 0 && <div>{capabilities.join(', ')}</div>}
      {missingCapabilities.length > 0 && <div class="wait">missing: {missingCapabilities.join(', ')}</div>}
    </>
  ),
};

/** What it is at, since when, why, and the blocks of which it sent something wrong. */
function State({ row }: { row: Node }) {
  const { cordon, failedBlocks, network, processes } = row;
  const { since, tone, until, why, words } = getCondition(row);
  return (
    <>
      <Chip tone={tone}>{words}</Chip>
      {since !== null && cordon === null && (
        <div>
          since {formatTime(since)}, {formatDuration(getNow() - Date.parse(since))}
          {until !== null && `; next retry ${Date.parse(until) <= getNow() ? 'now' : formatTime(until)}`}
        </div>
      )}
      {cordon !== null && (
        <div>
          by <bdi>{cordon.actor}</bdi> <Ago at={cordon.at} />: <bdi>{cordon.reason}</bdi>
        </div>
      )}
      {why !== null && (
        <div class="faint">
          <bdi>{why.slice(0, 200)}</bdi>
        </div>
      )}
      {failedBlocks.length > 0 && (
        <div>
          wrong blocks: <BlockLinks network={network} blocks={failedBlocks} />
        </div>
      )}
      {new Set(processes.map(({ state }) => state)).size > 1 && (
        <details>
          <summary>{pluralize(processes.length, 'process', 'processes')}</summary>
          <ul class="plain">
            {processes.map(({ process, role, host, state }) => (
              <li key={process}>
                {role} {process.slice(0, 8)} on <bdi>{host}</bdi>:{' '}
                {NODE_CONDITIONS[state].words.toLowerCase()}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** Blocks that are shown of a node. */
const MAX_BLOCKS = 3;

const BlockLinks = ({ network, blocks }: { network: string; blocks: readonly number[] }) => (
  <>
    {blocks.slice(0, MAX_BLOCKS).map((block, at) => (
      <span key={block}>
        {at > 0 && ', '}
        <a href={toHref(`quarantine/${encodeURIComponent(network)}/${block}`)}>{formatCount(block)}</a>
      </span>
    ))}
    {blocks.length > MAX_BLOCKS && (
      <>
        {' and '}
        <a href={toHref('quarantine', { network })}>{blocks.length - MAX_BLOCKS} more</a>
      </>
    )}
  </>
);

function Head({ row: { head, lag } }: { row: Node }) {
  if (head === null) return <span class="faint">unknown</span>;
  return (
    <>
      {formatCount(head)}
      {lag !== null && lag > 0 && <div class="wait">{formatCount(lag)} behind</div>}
    </>
  );
}

/** The mean, and that of each method. */
function Latency({ row }: { row: Node }) {
  const ms = getLatency(row);
  if (row.methods.length === 0) return <span class="faint">no calls</span>;
  return (
    <details>
      <summary>{ms === null ? 'no response' : `${formatCount(Math.round(ms))} ms`}</summary>
      <ul class="plain">
        {row.methods.map((each) => (
          <li key={each.method}>
            <code>{each.method}</code> {each.ms === null ? 'no response' : `${formatCount(each.ms)} ms`},{' '}
            {pluralize(each.calls, 'call')}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Errors({ row }: { row: Node }) {
  const { failed, share } = getCalls(row);
  if (failed === 0) return <>0 %</>;
  const meanings = row.errors.map(({ meaning, calls }) => `${formatCount(calls)} ${meaning}`).join(', ');
  return (
    <>
      <span class={share === null || share > 0.05 ? 'bad' : 'wait'}>
        {share === null ? formatCount(failed) : `${(share * 100).toFixed(1)} %`}
      </span>
      <div class="faint">{meanings}</div>
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
