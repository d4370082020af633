import { hrefOf } from '../lib/route.js';
import { useRead } from '../lib/use-read.js';
import { ChangeForm, textOf } from '../parts/change-form.js';
import { Empty, Shown } from '../parts/states.js';
import { QuoteButton } from './quote.js';
import { TermsFields, termsIn, USUAL } from './terms-fields.js';

const KINDS = ['blocks', 'transactions', 'receipts', 'logs', 'traces'];

/** Orders a range. */
export function NewBackfill() {
  const networks = useRead<{ id: string }[]>('networks', {}, 60_000);
  return (
    <>
      <p>
        <a href={hrefOf('backfills')}>Backfills</a>
      </p>
      <h1>Order a range</h1>
      <Shown reading={networks}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>
              The database knows no network yet. An ingester enters those of its networks file when it starts.
            </Empty>
          ) : (
            <Order networks={rows.map(({ id }) => id)} />
          )
        }
      </Shown>
    </>
  );
}

/** The range in the form. Throws an Error that says what is wrong. */
function rangeIn(form: FormData): { network: string; start: number; end: number | null; kinds: string[] } {
  const block = (field: string): number | undefined => {
    const text = textOf(form, field);
    return text === undefined ? undefined : Number(text.replace(/[_,]/g, ''));
  };
  const [start, end] = [block('start'), block('end')];
  if (start === undefined || !Number.isSafeInteger(start)) throw new Error('The first block is missing.');
  const kinds = form.getAll('kind').map(String);
  if (kinds.length === 0) throw new Error('Choose at least one kind.');
  return { network: String(form.get('network')), start, end: end ?? null, kinds };
}

function Order({ networks }: { networks: readonly string[] }) {
  return (
    <ChangeForm<{ range: { id: number } }>
      name="backfills/add"
      submit="Order"
      inputOf={(form) => ({ ...rangeIn(form), ...termsIn(form, USUAL) })}
      done={({ range }) => {
        location.hash = hrefOf(`backfills/${range.id}`);
      }}
    >
      <label>
        Network{' '}
        <select name="network">
          {networks.map((id) => (
            <option key={id}>{id}</option>
          ))}
        </select>
      </label>
      <label>
        First block <input name="start" required inputMode="numeric" pattern="[0-9_,]+" />
      </label>
      <label>
        Last block, empty: it follows the head <input name="end" inputMode="numeric" pattern="[0-9_,]*" />
      </label>
      <fieldset>
        <legend>Kinds</legend>
        {KINDS.map((kind) => (
          <label key={kind} class="inline">
            <input type="checkbox" name="kind" value={kind} defaultChecked /> {kind}{' '}
          </label>
        ))}
      </fieldset>
      <QuoteButton inputOf={rangeIn} />
      <TermsFields terms={USUAL} />
    </ChangeForm>
  );
}
