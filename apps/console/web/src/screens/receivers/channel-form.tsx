import { useState } from 'preact/hooks';
import { ChangeForm, NewForm } from '../../parts/changes.js';
import { Select } from '../../parts/fields.js';
import { choice, type FormFields, lines, text, windows } from '../../parts/form-fields.js';
import type { Channel } from './delivery-state.js';
import { RotateSecret } from './rotate-secret.js';

const KINDS = [
  ['email', 'Email'],
  ['slack', 'Slack'],
  ['webhook', 'Webhook'],
] as const;
export const LABELS: Readonly<Record<string, string>> = Object.fromEntries(KINDS);

const SEVERITIES = [
  ['warning', 'warning and critical'],
  ['critical', 'critical only'],
] as const;

interface Made {
  id: number;
  secret: string;
}

/** Why nothing would be sent as things are; null: nothing speaks against it. */
type Hinted = (hint: string | null) => void;

/** Adds a channel. */
export function NewChannel({ made, hinted }: { made: (secret: Made) => void; hinted: Hinted }) {
  const [kind, choose] = useState('email');
  return (
    <NewForm
      title="New channel"
      name="notifications/add"
      submit="Create"
      fields={getFields(kind, 'never shown again', { required: true })}
      input={{ kind }}
      done={({ id, secret, hint }) => {
        if (secret !== null) made({ id, secret });
        hinted(hint);
      }}
    >
      <Select label="Kind" value={kind} options={KINDS} choose={choose} />
    </NewForm>
  );
}

/** Changes a channel as it was read; its address stays, unless another one is given. */
export function EditChannel(given: {
  channel: Channel;
  close: () => void;
  hinted: Hinted;
  rotated: (secret: Made) => void;
}) {
  const { channel, close, hinted, rotated } = given;
  const { host, id, kind, oldSecretUntil } = channel;
  return (
    <section class="card" aria-label={`Channel ${id}`}>
      <h2>
        {LABELS[kind]} {id}
      </h2>
      <ChangeForm
        name="notifications/set"
        submit="Save"
        subject={`notification ${id}`}
        fields={getFields(kind, `never shown; empty: keeps ${host}`)}
        input={{ id }}
        row={channel}
        done={({ hint }) => {
          hinted(hint);
          close();
        }}
        cancel={close}
      />
      {kind === 'webhook' && (
        <RotateSecret
          name="notifications/rotate"
          id={id}
          oldSecretUntil={oldSecretUntil}
          signs="Messages"
          made={(secret) => {
            close();
            rotated(secret);
          }}
        />
      )}
    </section>
  );
}

/** `note`: on an address. */
function getFields(kind: string, note: string, { required = false } = {}): FormFields {
  const [label, placeholder] =
    kind === 'slack'
      ? ['URL of the incoming webhook', 'https://hooks.slack.com/services/…']
      : ['URL', 'https://example.com/packhouse'];
  const url = { type: 'url', maxLength: 2_000, autocomplete: 'off', required, placeholder } as const;
  return {
    ...(kind === 'email'
      ? { recipients: lines('Recipients', 'ada@example.com') }
      : { url: text(`${label} (${note})`, url) }),
    severity: choice('Severity', SEVERITIES),
    networks: lines('Only these networks', 'ethereum', 'everything'),
    names: lines('Only these alarms', 'STANDSTILL', 'all'),
    quiet: windows('Quiet hours (only critical messages are sent)'),
  };
}
