import type { KeyRow, Plan } from './rows.js';

/** API keys and their applications. */
export interface Keys {
  /** Creates a key, and its application if new. Returns the secret, stored as sha256 only. Throws PLAN_UNKNOWN. */
  create(request: {
    application: string;
    network: string | null;
    plan: string;
    expiresAt?: Date | null;
    origins?: readonly string[];
    addresses?: readonly string[];
    methods?: readonly string[];
  }): Promise<{ key: string; row: KeyRow }>;
  /** By the SHA-256 of the whole key. */
  find(sha256: Buffer): Promise<KeyRow | null>;
  /** By id or the exact public prefix; null if there is none. */
  named(idOrPrefix: string): Promise<KeyRow | null>;
  /** Oldest first, after this id; `search` is part of the application's name, or the beginning of the prefix. */
  list(page?: { search?: string; after?: number; limit?: number }): Promise<KeyRow[]>;
  /** Keys that are not revoked, by the name of their plan. */
  countByPlan(): Promise<ReadonlyMap<string, number>>;
  /** By id or the exact public prefix; null if there is none. */
  revoke(idOrPrefix: string): Promise<KeyRow | null>;
}

/** The plans that keys are made with. */
export interface Plans {
  /** In the order they are listed in. */
  list(): Promise<Plan[]>;
  /**
   * Changes what is given of a plan; gateways use it within a second. With `make`, a missing plan is made first: 25
   * requests a second and no other limit. Returns null and changes nothing if it is not as `expected`. Throws
   * PLAN_UNKNOWN.
   */
  set(
    name: string,
    change: Partial<Omit<Plan, 'name'>>,
    options?: { make?: boolean; expected?: Omit<Plan, 'name'> | undefined },
  ): Promise<Plan | null>;
}
