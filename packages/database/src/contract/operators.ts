/** An operator of an installation. */
export interface OperatorRow {
  id: number;
  name: string;
  role: OperatorRole;
  hasPassword: boolean;
  createdAt: Date;
}

export type OperatorRole = 'viewer' | 'operator' | 'admin';

/** What signs somebody in: a link for one use, the session of a browser, or the token of a program. */
type SecretKind = 'link' | 'session' | 'token';

/** Who holds a secret: an operator, or the holder of an API key (role `owner`), who sees his own usage only. */
export interface SecretHolder {
  kind: SecretKind;
  /** The operator's name, or the prefix of the key. */
  name: string;
  role: OperatorRole | 'owner';
  operatorId: number | null;
  keyId: number | null;
  label: string;
  createdAt: Date;
  expiresAt: Date;
}

/** Operators and what they sign in with. Secrets are known by their SHA-256 alone. */
export interface Operators {
  /** Makes an operator, or null if the name is taken. `password` is a hash in PHC form. */
  add(operator: { name: string; role: OperatorRole; password: string | null }): Promise<OperatorRow | null>;
  list(): Promise<OperatorRow[]>;
  /** Changes what is given, and ends all sessions and tokens of the operator. Null if there is none. */
  set(name: string, change: { role?: OperatorRole; password?: string }): Promise<OperatorRow | null>;
  /** Removes an operator with all secrets. Null if there is none. */
  remove(name: string): Promise<OperatorRow | null>;
  /** The operator and the hash of the password; null if there is none. */
  find(name: string): Promise<{ operator: OperatorRow; password: string | null } | null>;

  /**
   * Keeps a secret of an operator (by id) or of a key for so many milliseconds. The role is at most the operator's. Of
   * the sessions of one holder the newest are kept. With `password`, the hash that was checked, returns false if the
   * operator has another one by now, and keeps nothing.
   */
  keep(secret: {
    sha256: Buffer;
    kind: SecretKind;
    operatorId: number | null;
    keyId: number | null;
    role: OperatorRole | 'owner';
    label?: string;
    forMs: number;
    password?: string | null;
  }): Promise<boolean>;
  /** The holder of each session or token that has not expired; null: there is none. The role is at most the operator's. */
  holders(sha256s: readonly Buffer[]): Promise<(SecretHolder | null)[]>;
  /** Takes a link that has not expired: of concurrent callers one gets it. */
  takeLink(sha256: Buffer): Promise<SecretHolder | null>;
  /** Returns false if there is no such secret. */
  drop(sha256: Buffer): Promise<boolean>;
  /** Tokens and sessions of all operators that have not expired, newest first. */
  secrets(): Promise<SecretHolder[]>;
  /** Drops the tokens of this label of an operator; returns their number. */
  dropTokens(name: string, label: string): Promise<number>;

  /**
   * Counts an attempt as failed for each subject, before it is known whether it is; those of more than a quarter of an
   * hour ago do not count. Returns false if one of them must wait: of concurrent attempts no more than the free ones pass.
   */
  attempt(subjects: readonly string[]): Promise<boolean>;
  /** Milliseconds until one of these subjects may try again; 0: now. */
  lockedMs(subjects: readonly string[]): Promise<number>;
  /** Forgets the attempts of these subjects. */
  succeeded(subjects: readonly string[]): Promise<void>;
}
