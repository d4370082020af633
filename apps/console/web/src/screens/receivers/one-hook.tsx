import { useState } from 'preact/hooks';
import type { Answer } from '../../lib/answers.js';
import { toNumber } from '../../lib/form-values.js';
import { formatDate } from '../../lib/format.js';
import { useMayChange } from '../../lib/use-session.js';
import { ActionButton, ChangeForm } from '../../parts/changes.js';
import { ShownOnce } from '../../parts/copy.js';
import { Facts } from '../../parts/facts.js';
import { Field } from '../../parts/fields.js';
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
import { describe, getHost } from './hooks.js';

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
                  confirm={`Remove webhook ${row.id} of ${getHost(row)}? A delivery that was begun may still arrive.`}
                  done={() => {
                    location.hash = '#/hooks';
                  }}
                >
                  Remove
                </ActionButton>
              </p>
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

/** A new secret, shown once; the old one signs too for a while, so that the receiver can change over. */
function Secret({ row }: { row: Hook }) {
  const [made, setMade] = useState<Rotated | null>(null);
  return (
    <>
      <h2>Secret</h2>
      {row.oldSecretUntil !== null && (
        <p>Deliveries are signed with the old secret too until {formatDate(row.oldSecretUntil)}.</p>
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
            <Field
              label="Hours for which the old secret signs too (0 to 168)"
              name="overlap"
              type="number"
              min={0}
              max={168}
              required
              defaultValue={24}
            />
          </ChangeForm>
        </details>
      )}
    </>
  );
}
