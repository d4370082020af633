import { type Connections, type Session, statement } from '../../connection/connections.js';
import { noteChange } from './changes.js';
import type { OperatorRole } from './operators.js';

/** A sign-in to the console, or an attempt. */
export interface SignIn {
  id: number;
  at: Date;
  method: 'link' | 'password' | 'key' | 'oidc';
  /** As it was given, without control characters, or the prefix of a key; empty: unknown. */
  name: string;
  /** Of the client; of IPv6 its /64. */
  address: string;
  /** `accepted`, or the code of the error. */
  outcome: string;
}

/** Whom a provider signs in. */
export interface OidcPerson {
  /** Issuer and subject: the same as long as the person is. */
  subject: string;
  /** The name of an operator that is made. */
  name: string;
  role: OperatorRole;
}

type OidcOperator = { id: number; name: string; role: OperatorRole };

/** Refused sign-ins that are kept: a flood of them deletes no accepted one. */
const MAX_REFUSED = 50_000;
const MAX_NAME = 200;

/** $1 method, $2 name, $3 address, $4 outcome. */
const insertSignIn = statement(
  'sign-ins/insert',
  `WITH old AS (
     DELETE FROM packhouse.sign_in WHERE at < clock_timestamp() - interval '1 year'
   ), beyond AS (
     DELETE FROM packhouse.sign_in WHERE $4 <> 'accepted' AND outcome <> 'accepted' AND id <= (
       SELECT id FROM packhouse.sign_in WHERE outcome <> 'accepted' ORDER BY id DESC OFFSET ${MAX_REFUSED} LIMIT 1)
   )
   INSERT INTO packhouse.sign_in (method, name, address, outcome) VALUES ($1, $2, $3, $4)`,
);

/** $1 limit, $2 id to begin below or null. */
const selectSignIns = statement(
  'sign-ins/select',
  `SELECT id, at, method, name, address, outcome FROM packhouse.sign_in
   WHERE $2::int8 IS NULL OR id < $2 ORDER BY id DESC LIMIT $1`,
);

/** $1 sha256, $2 milliseconds for which it could be returned again. */
const insertState = statement(
  'sign-ins/insert-state',
  `WITH old AS (DELETE FROM packhouse.oidc_state WHERE expires_at < clock_timestamp())
   INSERT INTO packhouse.oidc_state (sha256, expires_at)
   VALUES ($1, clock_timestamp() + $2::int8 * interval '1 millisecond') ON CONFLICT DO NOTHING RETURNING 1`,
);

/** $1 subject. */
const selectOperator = statement(
  'sign-ins/select-operator',
  'SELECT id, name, role FROM packhouse.operator WHERE subject = $1 FOR UPDATE',
);

/** $1 subject, $2 name, $3 role. Nothing if the name is taken. */
const insertOperator = statement(
  'sign-ins/insert-operator',
  `INSERT INTO packhouse.operator (subject, name, role) VALUES ($1, $2, $3)
   ON CONFLICT DO NOTHING RETURNING id, name, role`,
);

/** $1 id, $2 role. */
const updateRole = statement('sign-ins/update-role', 'UPDATE packhouse.operator SET role = $2 WHERE id = $1');

/** $1 subject. */
const endSecrets = statement(
  'sign-ins/end-secrets',
  `DELETE FROM packhouse.operator_secret AS s USING packhouse.operator AS o
   WHERE o.id = s.operator_id AND o.subject = $1 RETURNING o.name`,
);

/** In the history of changes, for what a provider decided. */
const ACTOR = 'oidc';

/** Sign-ins to the console, and what a provider of OIDC decides on operators. */
export function createSignIns(connections: Connections) {
  const note = (
    session: Session,
    name: string,
    action: string,
    before: object | null,
    after: object | null,
  ) => noteChange(session, { actor: ACTOR, subject: `operator ${name}`, action, before, after });
  return {
    add: async ({ method, name, address, outcome }: Omit<SignIn, 'id' | 'at'>) => {
      const shown = name.replace(/\p{Cc}/gu, '?').slice(0, MAX_NAME);
      await connections.query(insertSignIn, [method, shown, address, outcome]);
    },
    /** The newest first, below this id. */
    list: ({ limit, before }: { limit: number; before?: number | undefined }) =>
      connections.query<SignIn>(selectSignIns, [limit, before ?? null]),
    /** Uses up a state that a provider returned; false: it was used before. */
    takeState: async (sha256: Buffer, forMs: number) =>
      (await connections.query(insertState, [sha256, forMs])).length > 0,
    /**
     * The operator of a person, with the role that the provider says from now on; made at the first sign-in. Null: another
     * operator has the name.
     */
    admit: ({ subject, name, role }: OidcPerson): Promise<OidcOperator | null> =>
      connections.transaction(async (session) => {
        const find = () => session.queryOne<OidcOperator>(selectOperator, [subject]);
        const known = await find();
        const made = known ?? (await session.queryOne<OidcOperator>(insertOperator, [subject, name, role]));
        if (known === null && made !== null) await note(session, name, 'add', null, { role });
        // Another sign-in of this person may have made it meanwhile.
        const row = made ?? (await find());
        if (row === null || row.role === role) return row;
        await session.query(updateRole, [row.id, role]);
        await note(session, row.name, 'set', { role: row.role }, { role });
        return { ...row, role };
      }),
    /** Ends all sessions and tokens of a person whom the provider gives no role any more. */
    expel: (subject: string): Promise<void> =>
      connections.transaction(async (session) => {
        const [ended] = await session.query<{ name: string }>(endSecrets, [subject]);
        if (ended !== undefined) await note(session, ended.name, 'end sessions', null, null);
      }),
  };
}
