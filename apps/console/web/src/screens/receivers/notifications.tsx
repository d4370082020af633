import { useState } from 'preact/hooks';
import { useMayChange } from '../../lib/hooks/use-session.js';
import { ActionButton } from '../../parts/changes.js';
import { ShownOnce } from '../../parts/copy.js';
import { ChangeLogLink } from '../../parts/navigation.js';
import { Page } from '../../parts/page.js';
import { ReadTable } from '../../parts/table.js';
import { EditChannel, LABELS, NewChannel } from './channel-form.js';
import {
  type Channel,
  Deliveries,
  Failure,
  OperatorsOnly,
  StateButton,
  StateChip,
  Test,
} from './delivery-state.js';

/** Who is told what needs attention. */
export function Notifications() {
  const mayChange = useMayChange();
  const [secret, setSecret] = useState<{ id: number; secret: string } | null>(null);
  const [hint, setHint] = useState<string | null>(null);
  const [edited, edit] = useState<Channel | null>(null);
  return (
    <Page
      title="Notifications"
      lead="Alarms, missed deadlines, budgets, expiring keys and failed schedules, sent to people and programs."
      actions={<ChangeLogLink subject="notification" />}
    >
      {!mayChange ? (
        <OperatorsOnly />
      ) : (
        <ReadTable
          name="notifications"
          above={
            <>
              {secret !== null ? (
                <ShownOnce text={secret.secret} label="the secret" done={() => setSecret(null)}>
                  The secret that signs messages of channel {secret.id}.
                </ShownOnce>
              ) : edited !== null ? (
                <EditChannel
                  key={edited.id}
                  channel={edited}
                  close={() => edit(null)}
                  hinted={setHint}
                  rotated={setSecret}
                />
              ) : (
                <NewChannel made={setSecret} hinted={setHint} />
              )}
              {hint !== null && (
                <p class="wait" role="status">
                  {hint}
                </p>
              )}
            </>
          }
          label="Channels"
          keyOf={(row) => row.id}
          empty="No channels yet. Add one above, then send a test."
          columns={{
            Channel: (row) => <To row={row} />,
            State: (row) => <StateChip row={row} />,
            Sent: (row) => <Filter row={row} />,
            Messages: (row) => <Deliveries row={row} />,
            'Last error': (row) => <Failure row={row} />,
            Test: (row) => <Test name="notifications/test" row={row} />,
            Action: (row) => (
              <span class="actions">
                <button type="button" onClick={() => edit(row)}>
                  Edit
                </button>
                <StateButton name="notifications/state" row={row} />
                <ActionButton
                  name="notifications/remove"
                  input={{ id: row.id }}
                  confirm={`Remove channel ${row.id}? A message already being sent may still arrive.`}
                >
                  Remove
                </ActionButton>
              </span>
            ),
          }}
        />
      )}
    </Page>
  );
}

const To = ({ row: { id, kind, host, recipients } }: { row: Channel }) => (
  <>
    <strong>
      {LABELS[kind]} {id}
    </strong>
    <br />
    <bdi>{kind === 'email' ? recipients.join(', ') : host}</bdi>
  </>
);

function Filter({ row: { networks, names, severity, quiet } }: { row: Channel }) {
  return (
    <ul class="plain">
      <li>{severity === 'critical' ? 'critical only' : 'warning and critical'}</li>
      {networks.length > 0 && (
        <li>
          networks: <bdi>{networks.join(', ')}</bdi>
        </li>
      )}
      {names.length > 0 && <li>alarms: {names.join(', ')}</li>}
      {quiet.length > 0 && <li>quiet: {quiet.join('; ')}</li>}
    </ul>
  );
}
