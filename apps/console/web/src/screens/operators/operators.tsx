import { useState } from 'preact/hooks';
import type { Answer } from '../../lib/answers.js';
import { formatDate } from '../../lib/format.js';
import { useIsAdmin } from '../../lib/hooks/use-session.js';
import { ActionButton, NewForm } from '../../parts/changes.js';
import { ShownOnce } from '../../parts/copy.js';
import { Name } from '../../parts/facts.js';
import { choice, text } from '../../parts/form-fields.js';
import { ChangeLogLink } from '../../parts/navigation.js';
import { Page } from '../../parts/page.js';
import { Empty, Read } from '../../parts/states.js';
import { Table } from '../../parts/table.js';
import { SignIns } from './sign-ins.js';

type Operator = Answer<'operators'>['operators'][number];
type Link = Answer<'operators/link'>;

const ROLES = [
  ['owner', 'owner: sees and manages its applications'],
  ['viewer', 'viewer: reads everything'],
  ['operator', 'operator: also makes changes'],
  ['admin', 'admin: also manages operators and plans'],
] as const;

/** Who may sign in, and the tokens of programs. */
export function Operators() {
  const isAdmin = useIsAdmin();
  const [link, setLink] = useState<Link | null>(null);
  return (
    <Page title="Operators" actions={<ChangeLogLink subject="operator" />}>
      {!isAdmin ? (
        <Empty>Only admins can see operators. Ask one to change a role or create a link.</Empty>
      ) : (
        <Read name="operators" everyMs={15_000}>
          {({ operators, secrets }) => (
            <>
              {link !== null && <NewLink link={link} done={() => setLink(null)} />}
              <OperatorTable rows={operators} made={setLink} />
              <NewForm title="New operator" name="operators/add" submit="Create" fields={FIELDS} />
              <h2>Sessions and tokens</h2>
              <Table
                label="Sessions and tokens"
                rows={secrets.map((row, index) => ({ ...row, index }))}
                keyOf={({ index }) => index}
                empty="No sessions or tokens."
                columns={{
                  Operator: (row) => <bdi>{row.name}</bdi>,
                  Kind: (row) => row.kind,
                  Label: (row) => <bdi>{row.label ?? ''}</bdi>,
                  Role: (row) => row.role,
                  Expires: (row) => formatDate(row.expiresAt),
                }}
              />
              <SignIns />
            </>
          )}
        </Read>
      )}
    </Page>
  );
}

function OperatorTable({ rows, made }: { rows: readonly Operator[]; made: (link: Link) => void }) {
  return (
    <Table
      label="Operators"
      rows={rows}
      keyOf={(row) => row.id}
      columns={{
        Name: (row) => <Name>{row.name}</Name>,
        Role: (row) => row.role,
        Password: (row) => (row.hasPassword ? 'set' : 'none (signs in by link)'),
        Created: (row) => formatDate(row.createdAt),
        Action: ({ name }) => (
          <span class="actions">
            <ActionButton name="operators/link" input={{ name }} done={made}>
              Create link
            </ActionButton>
            <ActionButton
              name="operators/remove"
              input={{ name }}
              confirm={`Remove ${name.slice(0, 80)} and all their sessions and tokens?`}
            >
              Remove
            </ActionButton>
          </span>
        ),
      }}
    />
  );
}

const NewLink = ({ link, done }: { link: Link; done: () => void }) => (
  <ShownOnce text={`${location.origin}${link.path}`} label="the link" done={done}>
    One-time link that signs in <bdi>{link.name}</bdi> ({link.role}), valid for ten minutes.
  </ShownOnce>
);

const FIELDS = {
  name: text('Name', { required: true, maxLength: 200, autocomplete: 'off' }),
  role: choice('Role', ROLES),
  password: text('Password (empty: signs in by link)', {
    type: 'password',
    minLength: 10,
    maxLength: 1_024,
    autocomplete: 'new-password',
  }),
};
