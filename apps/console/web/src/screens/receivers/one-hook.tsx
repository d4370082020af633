import { useState } from 'preact/hooks';
import type { Answer } from '../../lib/answers.js';
import { toLines, toNumber, toText } from '../../lib/form-values.js';
import { formatDate } from '../../lib/format.js';
import { useMayChange } from '../../lib/use-session.js';
import { ActionButton, ChangeForm } from '../../parts/changes.js';
import { ShownOnce } from '../../parts/copy.js';
import { Facts } from '../../parts/facts.js';
import { ChangeLogLink } from '../../parts/navigation.js';
import { Page } from '../../parts/page.js';
import { Read } from '../../parts/states.js';
import {
  Deliveries,
  Failure,
  type Hook,
  OperatorsOnly,
  StateButton,
  StateChip,
  Test,
} from './delivery-state.js';
import { describe, getHost, HookFields } from './hook-fields.js';
import { OverlapField } from './overlap-field.js';

type Rotated = Answer<'hooks/rotate'>;

/** One webhook: what it is sent, what it accepted, why it fails, and a new secret for it. */
export function OneHook({ id }: { id: string }) {
  const mayChange = useMayChange();
  return (
    <Page
      title={`Webhook ${id}`}
      above={[['hooks', 'Webhooks']]}
      actions={<ChangeLogLink subject={`hook ${id}`} />}
    >
      {!mayChange ? (
        <OperatorsOnly />
      ) : (
        <Read name="hooks/show" input={{ id }}>
          {(row) => (
            <>
              <HookFacts row={row} />
              <p class="actions">
                <StateButton name="hooks/state" row={row} />
                <ActionButton
                  name="hooks/remove"
                  input={{ id: row.id }}
                  confirm={`Remove webhook ${row.id} of ${getHost(row)}? A delivery already being sent may still arrive.`}
                  done={() => {
                    location.hash = '#/hooks';
                  }}
                >
                  Remove
                </ActionButton>
              </p>
              <EditHook row={row} />
              <Secret row={row} />
            </>
          )}
        </Read>
      )}
    </Page>
  );
}

const HookFacts = ({ row }: { row: Hook }) => (
  <Facts
    rows={{
      State: <StateChip row={row} />,
      Receiver: (
        <details>
          <summary>
            <bdi>{getHost(row)}</bdi>
          </summary>
          <bdi>{row.url}</bdi>
        </details>
      ),
      Network: <bdi>{row.network}</bdi>,
      Sent: describe(row),
      ...(row.addresses.length > 0 ? { Contracts: row.addresses.join(', ') } : {}),
      ...(row.topics.length > 0 ? { 'First topics': row.topics.join(', ') } : {}),
      Deliveries: <Deliveries row={row} />,
      'Last error': <Failure row={row} />,
      'Last test': <Test name="hooks/test" row={row} />,
      Created: formatDate(row.createdAt),
    }}
  />
);

/** Changes it as it was when the form was opened. */
function EditHook({ row }: { row: Hook }) {
  const [edited, edit] = useState<Hook | null>(null);
  const close = (): void => edit(null);
  if (edited === null) {
    return (
      <p>
        <button type="button" onClick={() => edit(row)}>
          Edit
        </button>
      </p>
    );
  }
  const { id, url, kinds, addresses, topics } = edited;
  return (
    <>
      <h2>Edit</h2>
      <ChangeForm
        name="hooks/set"
        submit="Save"
        subject={`hook ${id}`}
        getInput={(form) => ({
          id,
          url: toText(form, 'url'),
          kinds: form.getAll('kind').map(String),
          addresses: toLines(form, 'addresses'),
          topics: toLines(form, 'topics'),
          expected: { url, kinds, addresses, topics },
        })}
        done={close}
        cancel={close}
      >
        <HookFields hook={edited} />
      </ChangeForm>
    </>
  );
}

/** A new secret, shown once; the old one signs too for a while, so that the receiver can change over. */
function Secret({ row }: { row: Hook }) {
  const [made, setMade] = useState<Rotated | null>(null);
  return (
    <>
      <h2>Secret</h2>
      {row.oldSecretUntil !== null && (
        <p>Deliveries are also signed with the old secret until {formatDate(row.oldSecretUntil)}.</p>
      )}
      {made !== null ? (
        <ShownOnce text={made.secret} label="the secret" done={() => setMade(null)}>
          The new secret of webhook {made.id}.
        </ShownOnce>
      ) : (
        <details>
          <summary>Rotate the secret</summary>
          <ChangeForm
            name="hooks/rotate"
            submit="Rotate"
            getInput={(form) => ({ id: row.id, overlapHours: toNumber(form, 'overlap') ?? 0 })}
            done={setMade}
          >
            <OverlapField />
          </ChangeForm>
        </details>
      )}
    </>
  );
}
