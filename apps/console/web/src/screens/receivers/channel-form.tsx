import { useState } from 'preact/hooks';
import type { Answer } from '../../lib/answers.js';
import { toLines, toNumber, toText } from '../../lib/form-values.js';
import { formatDate } from '../../lib/format.js';
import { ChangeForm } from '../../parts/changes.js';
import { Field, LinesField, Select, SelectField } from '../../parts/fields.js';
import { WindowsEditor } from '../../parts/windows-editor.js';
import type { Channel } from './delivery-state.js';
import { OverlapField } from './overlap-field.js';

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
    <details>
      <summary>New channel</summary>
      <ChangeForm
        name="notifications/add"
        submit="Create"
        getInput={(form) => ({
          kind,
          ...(kind === 'email' ? { recipients: toLines(form, 'recipients') } : { url: toText(form, 'url') }),
          ...getTerms(form),
        })}
        done={({ id, secret, hint }) => {
          if (secret !== null) made({ id, secret });
          hinted(hint);
        }}
      >
        <Select label="Kind" value={kind} options={KINDS} choose={choose} />
        <ChannelFields kind={kind} />
      </ChangeForm>
    </details>
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
  const { id, kind } = channel;
  return (
    <section class="card" aria-label={`Channel ${id}`}>
      <h2>
        {LABELS[kind]} {id}
      </h2>
      <ChangeForm
        name="notifications/set"
        submit="Save"
        subject={`notification ${id}`}
        getInput={(form) => ({
          id,
          ...(kind === 'email' ? { recipients: toLines(form, 'recipients') } : { url: toText(form, 'url') }),
          ...getTerms(form),
          expected: getExpected(channel),
        })}
        done={({ hint }) => {
          hinted(hint);
          close();
        }}
        cancel={close}
      >
        <ChannelFields kind={kind} channel={channel} />
      </ChangeForm>
      {kind === 'webhook' && (
        <details>
          <summary>Rotate the secret</summary>
          {channel.oldSecretUntil !== null && (
            <p>Messages are also signed with the old secret until {formatDate(channel.oldSecretUntil)}.</p>
          )}
          <ChangeForm
            name="notifications/rotate"
            submit="Rotate"
            getInput={(form) => ({ id, overlapHours: toNumber(form, 'overlap') ?? 0 })}
            done={({ secret }: Answer<'notifications/rotate'>) => {
              close();
              rotated({ id, secret });
            }}
          >
            <OverlapField />
          </ChangeForm>
        </details>
      )}
    </section>
  );
}

const getTerms = (form: FormData) => ({
  severity: toText(form, 'severity'),
  networks: toLines(form, 'networks'),
  names: toLines(form, 'names'),
  quiet: toLines(form, 'windows', '\n'),
});

function getExpected({ recipients, networks, names, severity, quiet }: Channel): object {
  return { recipients, networks, names, severity, quiet };
}

function ChannelFields({ kind, channel }: { kind: string; channel?: Channel }) {
  const isNew = channel === undefined;
  const note = isNew ? 'never shown again' : `never shown; empty: keeps ${channel.host}`;
  return (
    <>
      {kind === 'email' ? (
        <LinesField
          label="Recipients"
          name="recipients"
          placeholder="ada@example.com"
          value={channel?.recipients}
        />
      ) : (
        <Field
          label={`${kind === 'slack' ? 'URL of the incoming webhook' : 'URL'} (${note})`}
          name="url"
          type="url"
          required={isNew}
          maxLength={2_000}
          autocomplete="off"
          placeholder={
            kind === 'slack' ? 'https://hooks.slack.com/services/…' : 'https://example.com/packhouse'
          }
        />
      )}
      <SelectField label="Severity" name="severity" options={SEVERITIES} value={channel?.severity} />
      <LinesField
        label="Only these networks"
        empty="everything"
        name="networks"
        placeholder="ethereum"
        value={channel?.networks}
      />
      <LinesField
        label="Only these alarms"
        empty="all"
        name="names"
        placeholder="STANDSTILL"
        value={channel?.names}
      />
      <WindowsEditor initial={channel?.quiet ?? []} legend="Quiet hours (only critical messages are sent)" />
    </>
  );
}
