import { toNumber } from '../../lib/form-values.js';
import { toHref, useRoute } from '../../lib/route.js';
import { ChangeForm } from '../../parts/changes.js';
import { KINDS, KindFields, RangeFields, SelectField } from '../../parts/fields.js';
import { NETWORKS_EVERY_MS, NoNetworks } from '../../parts/networks.js';
import { Page } from '../../parts/page.js';
import { Read } from '../../parts/states.js';
import { QuoteButton } from './quote.js';
import { DEFAULT_TERMS, getTerms, TermsFields } from './terms-fields.js';

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
  return (
    <ChangeForm
      name="backfills/add"
      submit="Create"
      getInput={(form) => ({ ...getRange(form), ...getTerms(form, DEFAULT_TERMS) })}
      done={({ range }) => done?.(range.id)}
    >
      <SelectField label="Network" name="network" options={networks} value={given.network} />
      <RangeFields from={given.from} to={given.to} open />
      <KindFields checked={given.kinds?.split(',') ?? KINDS} />
      <QuoteButton getInput={getRange} />
      {brief ? (
        <details>
          <summary>Priority, owner, deadline and time windows</summary>
          <TermsFields terms={DEFAULT_TERMS} />
        </details>
      ) : (
        <TermsFields terms={DEFAULT_TERMS} />
      )}
    </ChangeForm>
  );
}

/** The range in the form. Throws an Error with what is wrong. */
function getRange(form: FormData) {
  const from = toNumber(form, 'from');
  if (!Number.isSafeInteger(from)) throw new Error('The first block is required.');
  const kinds = form.getAll('kind').map(String);
  if (kinds.length === 0) throw new Error('Select at least one kind.');
  return { network: String(form.get('network')), from, to: toNumber(form, 'to'), kinds };
}
