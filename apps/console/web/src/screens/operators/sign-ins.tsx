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
  SIGN_IN_REFUSED: 'wrong or used link, name, password or key',
  SIGN_IN_LOCKED: 'too many failed attempts before',
  API_KEY_REFUSED: 'the key is not allowed from that address or origin',
  OIDC_REFUSED: 'refused by the provider, or its response is invalid',
  OIDC_NO_ROLE: 'the provider assigns no role',
  OIDC_UNAVAILABLE: 'the provider was unavailable',
};

const COLUMNS: Columns<SignIn> = {
  Time: (row) => formatDate(row.at),
  Name: (row) => (row.name === '' ? <span class="faint">unknown</span> : <bdi>{row.name}</bdi>),
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
        Sign-ins of the last year, and the last 50,000 refused ones. Attempts during a lockout are only
        counted.
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
            <a href={toHref('operators')}>No older sign-ins. Show the newest.</a>
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
