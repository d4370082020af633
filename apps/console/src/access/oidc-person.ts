import type { OidcPerson } from '@packhouse/database';
import { ROLES, type Role } from '@packhouse/operations';
import { findUnclear, PackhouseError } from '@packhouse/runtime';
import type { Claims } from './oidc-provider.js';

/** What claims say about a person. */
export interface OidcRules {
  /** Whose value is the name of the operator. */
  nameClaim: string;
  /** Whose values decide on the role; dots lead into objects. */
  roleClaim: string;
  /** The roles by value; `*`: of everybody whom the provider signs in. */
  roles: ReadonlyMap<string, Role>;
}

const EVERYBODY = '*';
const EMAIL = 'email';
const VERIFIED = 'email_verified';
const MAX_NAME = 200;
const MAX_SUBJECT = 2_000;

/** The claims that a person is read from. */
export function wantedClaims({ nameClaim, roleClaim }: OidcRules): string[] {
  const wanted = [nameClaim, roleClaim.split('.')[0] ?? ''];
  return wanted.includes(EMAIL) ? [...wanted, VERIFIED] : wanted;
}

/** The person of claims, with the highest role of all values. Throws OIDC_REFUSED, OIDC_NO_ROLE. */
export function toOidcPerson(claims: Claims, { nameClaim, roleClaim, roles }: OidcRules): OidcPerson {
  const { iss, sub } = claims;
  const name = find(claims, nameClaim);
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME) {
    throw refused(`no name of 1 to ${MAX_NAME} characters in the claim ${nameClaim}`);
  }
  const unclear = findUnclear(name);
  if (unclear !== null) throw refused(`a name with ${unclear} in the claim ${nameClaim}`);
  // Whoever may write any address at the provider would be its owner here.
  if ([nameClaim, roleClaim].includes(EMAIL) && claims[VERIFIED] !== true) {
    throw refused(`an e-mail address without the claim ${VERIFIED}: true`);
  }
  const subject = `${iss} ${sub}`;
  if (subject.length > MAX_SUBJECT) throw refused(`a subject of more than ${MAX_SUBJECT} characters`);
  const found = find(claims, roleClaim);
  const values = (Array.isArray(found) ? found : [found]).filter((value) => typeof value === 'string');
  const own = [...values, EVERYBODY].map((value) => roles.get(value));
  const role = ROLES.findLast((each) => own.includes(each));
  if (role !== undefined) return { subject, name, role };
  throw new NoRoleError(subject, name, {
    what: found === undefined ? `no claim ${roleClaim}` : `no value of ${roleClaim} that OIDC_ROLES names`,
  });
}

/** Somebody whom the provider knows, and who may do nothing here. */
export class NoRoleError extends PackhouseError {
  constructor(
    readonly subject: string,
    readonly person: string,
    { what }: { what: string },
  ) {
    super({
      code: 'OIDC_NO_ROLE',
      message: `${person} is signed in at the provider and has no access here: the provider sends ${what}.`,
      hint: 'Ask an admin for a group that has a role in Packhouse.',
    });
  }
}

/** The claim of this name, or what its dots lead to. */
function find(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let at: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as Record<string, unknown>)[part];
  }
  return at;
}

function refused(what: string): PackhouseError {
  return new PackhouseError({
    code: 'OIDC_REFUSED',
    message: `The provider sends ${what}.`,
    hint: 'See docs/console.md for what it must send, and set OIDC_SCOPE and OIDC_NAME_CLAIM accordingly.',
  });
}

/** `admin=platform-team;viewer=*`: the roles by value of the claim; null: it cannot be read. */
export function parseOidcRoles(text: string): Map<string, Role> | null {
  const roles = new Map<string, Role>();
  for (const part of text.split(';')) {
    const at = part.indexOf('=');
    const [name, value] = [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    const role = ROLES.find((each) => each === name);
    if (at < 0 || role === undefined || value === '') return null;
    const before = roles.get(value);
    if (before === undefined || ROLES.indexOf(before) < ROLES.indexOf(role)) roles.set(value, role);
  }
  return roles;
}
