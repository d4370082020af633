import { useState } from 'preact/hooks';
import { formatDate } from '../../lib/format.js';
import { useMayChange } from '../../lib/hooks/use-session.js';
import { ActionButton, EditForm } from '../../parts/changes.js';
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
import { describe, getHost, HOOK_FIELDS } from './hook-fields.js';
import { RotateSecret } from './rotate-secret.js';

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
              <EditForm
                name="hooks/set"
                submit="Save"
                subject={`hook ${id}`}
                fields={HOOK_FIELDS}
                input={{ id: row.id }}
                row={row}
              />
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

/** A new secret, shown once. */
function Secret({ row: { id, oldSecretUntil } }: { row: Hook }) {
  const [made, setMade] = useState<string | null>(null);
  return (
    <>
      <h2>Secret</h2>
      {made !== null && (
        <ShownOnce text={made} label="the secret" done={() => setMade(null)}>
          The new secret of webhook {id}.
        </ShownOnce>
      )}
      <RotateSecret
        name="hooks/rotate"
        id={id}
        oldSecretUntil={oldSecretUntil}
        signs="Deliveries"
        made={({ secret }) => setMade(secret)}
      />
    </>
  );
}
