import type { Answer } from '../../lib/answers.js';
import { formatDate } from '../../lib/format.js';
import { toHref, useRoute } from '../../lib/route.js';
import { Chip } from '../../parts/chip.js';
import { type Columns, ReadTable } from '../../parts/table.js';

type SignIn = Answer<'sign-ins'>['rows'][number];

const METHODS: Readonly<Record<SignIn['method'], string>> = {
  link: 'One-time link',
  password: 'Password',
  key: 'API key',
  oidc: 'OIDC provider',
};

/** Why an attempt was refused, by the code of its error. */
const REFUSALS: Readonly<Record<string, string>> = {
  SIGN_IN_REFUSED: 'wrong or used up link, name, password or key',
  SIGN_IN_LOCKED: 'too many failed attempts before',
  API_KEY_REFUSED: 'the restrictions of the key do not allow it there',
  OIDC_REFUSED: 'the provider refused, or its answer does not fit',
  OIDC_NO_ROLE: 'the provider gives no role here',
  OIDC_UNAVAILABLE: 'the provider could not be used',
};

const COLUMNS: Columns<SignIn> = {
  Time: (row) => formatDate(row.at),
  Name: (row) => (row.name === '' ? <span class="faint">not known</span> : <bdi>{row.name}</bdi>),
  How: (row) => METHODS[row.method],
  Result: ({ outcome }) =>
    outcome === 'accepted' ? <Chip tone="good">Signed in</Chip> : <Chip tone="bad">Refused</Chip>,
  Reason: ({ outcome }) =>
    outcome !== 'accepted' && (
      <>
        {REFUSALS[outcome] ?? ''} <code>{outcome}</code>
      </>
    ),
  Address: (row) => <bdi>{row.address}</bdi>,
};

/** Who signed in and who was refused, a page at a time. */
export function SignIns() {
  const { before } = useRoute().query;
  return (
    <section aria-label="Sign-ins">
      <h2>Sign-ins</h2>
      <p class="faint">
        Of the last year; of refused ones the last 50,000. What had to wait after failures is only counted.
      </p>
      <ReadTable
        name="sign-ins"
        input={{ before, limit: 50 }}
        everyMs={15_000}
        label="Sign-ins"
        keyOf={(row) => row.id}
        empty={
          before === undefined ? (
            'Nobody has signed in yet.'
          ) : (
            <a href={toHref('operators')}>There are no older ones. Show the newest.</a>
          )
        }
        columns={COLUMNS}
        pages={{
          path: 'operators',
          query: {},
          next: (last) => ({ before: last.id }),
          titles: ['Newest', 'Older'],
        }}
      />
    </section>
  );
}
