import { toHref, useRoute } from '../../lib/route.js';
import { ChangeForm } from '../../parts/changes.js';
import { KINDS } from '../../parts/fields.js';
import { choice, FieldList, kinds, number, readFields } from '../../parts/form-fields.js';
import { NETWORKS_EVERY_MS, NoNetworks } from '../../parts/networks.js';
import { Page } from '../../parts/page.js';
import { Read } from '../../parts/states.js';
import { QuoteButton } from './quote.js';
import { TERMS } from './terms-fields.js';

const RANGE = {
  from: number('First block', { required: true }),
  to: number('Last block (empty: follow the head)'),
  kinds,
};

/** The form for a backfill; the address may name its range and kind. */
export const NewBackfill = () => {
  const given = useRoute().query;
  return (
    <Page title="New backfill" above={[['backfills', 'Backfills']]}>
      <Read name="networks" everyMs={NETWORKS_EVERY_MS}>
        {(rows) =>
          rows.length === 0 ? (
            <NoNetworks />
          ) : (
            <BackfillForm
              networks={rows.map(({ id }) => id)}
              given={given}
              done={(id) => {
                location.hash = toHref(`backfills/${id}`);
              }}
            />
          )
        }
      </Read>
    </Page>
  );
};

/** With the cost estimated beside it. */
export function BackfillForm(props: {
  networks: readonly string[];
  given: {
    network?: string | undefined;
    from?: string | undefined;
    to?: string | undefined;
    kinds?: string | undefined;
  };
  /** Whether the terms are closed at first. */
  brief?: boolean;
  done?: (id: number) => void;
}) {
  const { networks, given, brief, done } = props;
  const values = { ...given, kinds: given.kinds?.split(',') ?? KINDS };
  return (
    <ChangeForm
      name="backfills/add"
      submit="Create"
      getInput={(form) => ({ ...getRange(form), ...readFields(form, TERMS) })}
      done={({ range }) => done?.(range.id)}
    >
      <FieldList fields={{ network: choice('Network', networks), ...RANGE }} values={values} />
      <QuoteButton getInput={getRange} />
      {brief ? (
        <details>
          <summary>Priority, owner, deadline and time windows</summary>
          <FieldList fields={TERMS} values={{}} />
        </details>
      ) : (
        <FieldList fields={TERMS} values={{}} />
      )}
    </ChangeForm>
  );
}

/** The range in the form. Throws an Error with what is wrong. */
function getRange(form: FormData) {
  const { from, to = null, kinds: some } = readFields(form, RANGE);
  if (!Number.isSafeInteger(from)) throw new Error('The first block is required.');
  if ((some as string[]).length === 0) throw new Error('Select at least one kind.');
  return { network: String(form.get('network')), from, to, kinds: some };
}
