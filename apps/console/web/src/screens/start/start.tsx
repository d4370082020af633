import { useState } from 'preact/hooks';
import type { Answer } from '../../lib/answers.js';
import { formatBlock, formatCount, pluralize } from '../../lib/format.js';
import { useRead } from '../../lib/hooks/use-read.js';
import { toHref } from '../../lib/route.js';
import { MayChange } from '../../parts/changes.js';
import { Page } from '../../parts/page.js';
import { Problem } from '../../parts/states.js';
import { BackfillForm } from '../backfills/new-backfill.js';
import { NewKey } from '../keys/new-key.js';
import { Examples } from '../keys/own.js';
import { AddNode } from './add-node.js';
import { Step } from './step.js';

/** Polled: no event tells of these. */
const EVERY_MS = 3_000;

type Nodes = Answer<'nodes'>;
type Backfill = Answer<'backfills'>['rows'][number];

/** From an installation without nodes to the first downloaded file; each step is done as soon as it is true. */
export const Start = () => (
  <Page title="Get started" lead="From a node to the first downloaded file, in four steps.">
    <Steps />
  </Page>
);

function Steps() {
  const networks = useRead('networks', {}, EVERY_MS);
  const nodes = useRead('nodes');
  const backfills = useRead('backfills', { limit: 1 }, EVERY_MS);
  const keys = useRead('keys', { limit: 1 }, EVERY_MS);
  const [made, setMade] = useState<string | null>(null);
  const reads = [networks, nodes, backfills, keys];
  const error = reads.find((each) => each.error !== null)?.error;
  if (reads.some(({ value }) => value === undefined)) {
    return error ? <Problem error={error} /> : <p class="waiting">Loading…</p>;
  }
  const found = nodes.value ?? [];
  const answering = found.filter(({ head }) => head !== null);
  const ids = (networks.value ?? []).map(({ id }) => id);
  const backfill = backfills.value?.rows[0];
  const key = keys.value?.rows[0];
  const done = [answering.length > 0, backfill !== undefined, key !== undefined || made !== null];
  const now = done.indexOf(false);
  const current = (at: number): boolean => at === (now === -1 ? done.length : now);
  return (
    <>
      {error && <Problem error={error} />}
      <ol class="findings">
        <Step title="1. Add a node" done={done[0] === true} current={current(0)}>
          <NodeStep nodes={found} networks={ids} />
        </Step>
        <Step title="2. Choose what to keep" done={done[1] === true} current={current(1)}>
          {backfill !== undefined ? (
            <BackfillFacts backfill={backfill} />
          ) : ids.length === 0 ? (
            'Networks appear here as soon as an ingester has a node.'
          ) : (
            <MayChange>
              <BackfillForm brief networks={ids} given={{ network: answering[0]?.network, from: '0' }} />
            </MayChange>
          )}
        </Step>
        <Step title="3. Create a key" done={done[2] === true} current={current(2)}>
          {key !== undefined && (
            <p>
              Key <a href={toHref(`keys/${key.prefix}`)}>{key.prefix}</a> exists already. Keys are shown only
              once: create another one if nobody has it.
            </p>
          )}
          <MayChange>
            <NewKey onMade={setMade} />
          </MayChange>
        </Step>
        <Step title="4. Download" done={false} current={current(3)}>
          {backfill === undefined || networks.value === undefined ? (
            'The command that downloads appears here.'
          ) : (
            <Download networks={networks.value} backfill={backfill} apiKey={made ?? undefined} />
          )}
        </Step>
      </ol>
    </>
  );
}

function NodeStep({ nodes, networks }: { nodes: Nodes; networks: readonly string[] }) {
  const [first] = nodes;
  if (first === undefined) {
    return (
      <>
        {networks.length > 0 && (
          <p class="bad">
            No running process reports a node of <bdi>{networks.slice(0, 5).join(', ')}</bdi>: see{' '}
            <a href={toHref('workers')}>Workers</a>.
          </p>
        )}
        <AddNode />
      </>
    );
  }
  const answers = nodes.find(({ head }) => head !== null);
  if (answers === undefined) {
    return (
      <p>
        <bdi>{first.upstream}</bdi> of <bdi>{first.network}</bdi> has not answered yet
        {first.lastError !== null && (
          <>
            : <bdi class="bad">{first.lastError}</bdi>
          </>
        )}
        . See <a href={toHref('nodes')}>Nodes</a>.
      </p>
    );
  }
  return (
    <p>
      <bdi>{answers.upstream}</bdi> of <bdi>{answers.network}</bdi> answers, head {formatBlock(answers.head)}
      {answers.client !== null && (
        <>
          , <bdi>{answers.client}</bdi>
        </>
      )}
      .{nodes.length > 1 && ` ${pluralize(nodes.length, 'node')} in total.`}
    </p>
  );
}

const BackfillFacts = ({ backfill: { id, network, kinds, from, to } }: { backfill: Backfill }) => (
  <p>
    <a href={toHref(`backfills/${id}`)}>Backfill {id}</a> of <bdi>{network}</bdi>: {kinds.join(', ')} from
    block {formatCount(from)} {to === null ? 'to the head' : `to ${formatCount(to)}`}.
  </p>
);

/** The lines of a key, for blocks that are published; before there are any, why not. */
function Download(given: { networks: Answer<'networks'>; backfill: Backfill; apiKey: string | undefined }) {
  const { networks, backfill, apiKey } = given;
  const { network, kinds, from } = backfill;
  const { value = [] } = useRead('overview');
  const through = value.find((row) => row.network === network)?.completeThrough ?? null;
  if (through === null || through < from) {
    return (
      <p>
        No complete blocks of <bdi>{network}</bdi> yet. This page updates. See{' '}
        <a href={toHref('overview', { network })}>Overview</a> for what is missing.
      </p>
    );
  }
  const chosen = networks.filter(({ id }) => id === network);
  return (
    <Examples networks={chosen} apiKey={apiKey} range={{ kinds, from, to: Math.min(through, from + 999) }} />
  );
}
