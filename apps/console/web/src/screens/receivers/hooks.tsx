import { useState } from 'preact/hooks';
import { useMayChange } from '../../lib/hooks/use-session.js';
import { toHref, useRoute } from '../../lib/route.js';
import { NewForm } from '../../parts/changes.js';
import { ShownOnce } from '../../parts/copy.js';
import { checkbox, choice, number } from '../../parts/form-fields.js';
import { ChangeLogLink } from '../../parts/navigation.js';
import { useNetworkIds } from '../../parts/networks.js';
import { Page } from '../../parts/page.js';
import { ReadTable } from '../../parts/table.js';
import { Deliveries, Failure, OperatorsOnly, StateButton, StateChip } from './delivery-state.js';
import { describe, getHost, HOOK_FIELDS } from './hook-fields.js';
import { OneHook } from './one-hook.js';

const PAGE = 100;

/** Where the feed is sent, and one of these. */
export function Hooks() {
  const [, id] = useRoute().parts;
  return id === undefined ? <HookList /> : <OneHook key={id} id={id} />;
}

function HookList() {
  const { network, after } = useRoute().query;
  const mayChange = useMayChange();
  const [made, setMade] = useState<{ id: number; secret: string } | null>(null);
  return (
    <Page
      title="Webhooks"
      lead="New blocks, undone blocks and files, sent to programs."
      actions={<ChangeLogLink subject="hook" />}
    >
      {!mayChange ? (
        <OperatorsOnly />
      ) : (
        <ReadTable
          name="hooks"
          input={{ network, after, limit: PAGE }}
          above={
            made === null ? (
              <NewHook network={network} made={setMade} />
            ) : (
              <ShownOnce text={made.secret} label="the secret" done={() => setMade(null)}>
                The secret that signs deliveries of webhook {made.id}.
              </ShownOnce>
            )
          }
          label="Webhooks"
          keyOf={(row) => row.id}
          empty={
            network === undefined
              ? 'No webhooks yet. Add one above.'
              : `No webhook of ${network} yet. Add one above.`
          }
          columns={{
            Webhook: (row) => (
              <a href={toHref(`hooks/${row.id}`)}>
                {row.id}: <bdi>{getHost(row)}</bdi>
              </a>
            ),
            Network: (row) => <bdi>{row.network}</bdi>,
            State: (row) => <StateChip row={row} />,
            Sent: (row) => describe(row),
            Deliveries: (row) => <Deliveries row={row} />,
            'Last error': (row) => <Failure row={row} />,
            Action: (row) => <StateButton name="hooks/state" row={row} />,
          }}
          pages={{ path: 'hooks', query: { network }, next: ({ id }) => ({ after: id }) }}
        />
      )}
    </Page>
  );
}

function NewHook(given: {
  network: string | undefined;
  made: (secret: { id: number; secret: string }) => void;
}) {
  const networks = useNetworkIds();
  return (
    <NewForm
      title="New webhook"
      name="hooks/add"
      submit="Create"
      fields={{
        network: choice('Network', networks),
        ...HOOK_FIELDS,
        finalOnly: checkbox('Only finalized blocks'),
        from: number('First block (empty: the next new block)'),
      }}
      defaults={{ network: given.network, kinds: ['logs'] }}
      getInput={(_, { from, ...others }) => ({ ...others, from: from ?? undefined })}
      done={given.made}
    />
  );
}
