import { toNumber } from '../../lib/form-values.js';
import { toHref, useRoute } from '../../lib/route.js';
import { ChangeForm } from '../../parts/changes.js';
import { RangeFields, SelectField } from '../../parts/fields.js';
import { NETWORKS_EVERY_MS, NoNetworks } from '../../parts/networks.js';
import { Page } from '../../parts/page.js';
import { Read } from '../../parts/states.js';
import { QuoteButton } from './quote.js';
import { DEFAULT_TERMS, getTerms, TermsFields } from './terms-fields.js';

const KINDS = ['blocks', 'transactions', 'receipts', 'logs', 'traces'];

/** The form for a backfill; the address may name its range and kind. */
export function NewBackfill() {
  const given = useRoute().query;
  const kinds = given.kinds?.split(',') ?? KINDS;
  return (
    <Page title="New backfill" above={[['backfills', 'Backfills']]}>
      <Read name="networks" everyMs={NETWORKS_EVERY_MS}>
        {(rows) =>
          rows.length === 0 ? (
            <NoNetworks />
          ) : (
            <ChangeForm
              name="backfills/add"
              submit="Create"
              getInput={(form) => ({ ...getRange(form), ...getTerms(form, DEFAULT_TERMS) })}
              done={({ range }) => {
                location.hash = toHref(`backfills/${range.id}`);
              }}
            >
              <SelectField
                label="Network"
                name="network"
                options={rows.map(({ id }) => id)}
                value={given.network}
              />
              <RangeFields from={given.from} to={given.to} open />
              <fieldset>
                <legend>Kinds</legend>
                {KINDS.map((kind) => (
                  <label key={kind} class="inline">
                    <input type="checkbox" name="kind" value={kind} defaultChecked={kinds.includes(kind)} />{' '}
                    {kind}{' '}
                  </label>
                ))}
              </fieldset>
              <QuoteButton getInput={getRange} />
              <TermsFields terms={DEFAULT_TERMS} />
            </ChangeForm>
          )
        }
      </Read>
    </Page>
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
