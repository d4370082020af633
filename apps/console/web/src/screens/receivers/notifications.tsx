import { useState } from 'preact/hooks';
import { toLines, toText } from '../../lib/form-values.js';
import { useMayChange } from '../../lib/use-session.js';
import { ActionButton, ChangeForm } from '../../parts/changes.js';
import { ShownOnce } from '../../parts/copy.js';
import { Field, LinesField, Select, SelectField } from '../../parts/fields.js';
import { ChangeLogLink } from '../../parts/navigation.js';
import { Page } from '../../parts/page.js';
import { ReadTable } from '../../parts/table.js';
import { WindowsEditor } from '../../parts/windows-editor.js';
import {
  type Channel,
  Deliveries,
  Failure,
  OperatorsOnly,
  StateButton,
  StateChip,
  Test,
} from './delivery-state.js';

const KINDS = [
  ['email', 'E-mail'],
  ['slack', 'Slack'],
  ['webhook', 'Webhook'],
] as const;
const LABELS: Readonly<Record<string, string>> = Object.fromEntries(KINDS);

const SEVERITIES = [
  ['warning', 'warning and critical'],
  ['critical', 'critical'],
] as const;

/** Who is told what needs attention. */
export function Notifications() {
  const mayChange = useMayChange();
  const [secret, setSecret] = useState<{ id: number; secret: string } | null>(null);
  return (
    <Page
      title="Notifications"
      lead="Alarms, missed deadlines, budgets and failed schedules, sent to people and programs."
      actions={<ChangeLogLink subject="notification" />}
    >
      {!mayChange ? (
        <OperatorsOnly />
      ) : (
        <ReadTable
          name="notifications"
          above={
            secret === null ? (
              <NewChannel made={setSecret} />
            ) : (
              <ShownOnce text={secret.secret} label="the secret" done={() => setSecret(null)}>
                The secret that signs messages of channel {secret.id}.
              </ShownOnce>
            )
          }
          label="Channels"
          keyOf={(row) => row.id}
          empty="Nobody is told of alarms yet. Add a channel above, then send a test."
          columns={{
            Channel: (row) => <To row={row} />,
            State: (row) => <StateChip row={row} />,
            Sent: (row) => <Filter row={row} />,
            Messages: (row) => <Deliveries row={row} />,
            'Last error': (row) => <Failure row={row} />,
            Test: (row) => <Test name="notifications/test" row={row} />,
            Action: (row) => (
              <span class="actions">
                <StateButton name="notifications/state" row={row} />
                <ActionButton
                  name="notifications/remove"
                  input={{ id: row.id }}
                  confirm={`Remove channel ${row.id}? A message that was begun may still arrive.`}
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
      <li>{severity === 'critical' ? 'what is critical' : 'warnings too'}</li>
      {networks.length > 0 && (
        <li>
          of <bdi>{networks.join(', ')}</bdi>
        </li>
      )}
      {names.length > 0 && <li>{names.join(', ')}</li>}
      {quiet.length > 0 && <li>quiet: {quiet.join('; ')}</li>}
    </ul>
  );
}

function NewChannel({ made }: { made: (secret: { id: number; secret: string }) => void }) {
  const [kind, choose] = useState('email');
  return (
    <details>
      <summary>New channel</summary>
      <ChangeForm
        name="notifications/add"
        submit="Create"
        getInput={(form) => ({
          kind,
          url: toText(form, 'url'),
          recipients: toLines(form, 'recipients'),
          severity: toText(form, 'severity'),
          networks: toLines(form, 'networks'),
          names: toLines(form, 'names'),
          quiet: toLines(form, 'windows', '\n'),
        })}
        done={({ id, secret }) => {
          if (secret !== null) made({ id, secret });
        }}
      >
        <Select label="Kind" value={kind} options={KINDS} choose={choose} />
        {kind === 'email' ? (
          <LinesField label="Recipients" name="recipients" placeholder="ada@example.com" />
        ) : (
          <Field
            label={
              kind === 'slack' ? 'URL of the incoming webhook (never shown again)' : 'URL (never shown again)'
            }
            name="url"
            type="url"
            required
            maxLength={2_000}
            autocomplete="off"
            placeholder={
              kind === 'slack' ? 'https://hooks.slack.com/services/…' : 'https://example.com/packhouse'
            }
          />
        )}
        {kind === 'email' && (
          <p class="hint">
            Packers need the settings SMTP_URL and SMTP_FROM. The test says if they lack them.
          </p>
        )}
        <SelectField label="Severity" name="severity" options={SEVERITIES} />
        <LinesField label="Only these networks" empty="everything" name="networks" placeholder="ethereum" />
        <LinesField label="Only these alarms" empty="all" name="names" placeholder="STANDSTILL" />
        <WindowsEditor initial={[]} legend="Quiet hours (only what is critical is sent)" />
      </ChangeForm>
    </details>
  );
}
