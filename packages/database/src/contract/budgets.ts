/** What a provider may be asked, over all machines; days and months are those of UTC. */
export interface Budget {
  /** As upstreams of the networks file name it. */
  provider: string;
  /** Whether every request counts one, or what its method weighs. */
  unit: 'requests' | 'units';
  /** Units; null: no limit. */
  perSecond: number | null;
  perDay: number | null;
  perMonth: number | null;
  /** Units of a request by method, or `other` for those that are not named; 1 where nothing is said. */
  weights: Readonly<Record<string, number>>;
  /** The share that backfills leave to clients and the head, 0 to 0.9. */
  reserve: number;
  /** What a million units cost; null: unknown. */
  pricePerMillion: number | null;
  currency: string | null;
}

/** A network whose backfills wait for a budget. */
export interface BudgetWait {
  network: string;
  provider: string;
  period: 'day' | 'month';
  until: Date;
}

export interface Budgets {
  /** By provider. */
  list(): Promise<Budget[]>;
  /**
   * Changes the budget of a provider (null: there is none), one after the other, and notes it. Returns what it is then.
   */
  change<B extends Budget | null>(
    provider: string,
    work: (before: Budget | null) => B,
    who: string,
  ): Promise<B>;
  /** Notes that backfills of a network wait until a budget begins again. */
  noteWait(wait: BudgetWait): Promise<void>;
  /** Those that wait still. */
  waits(): Promise<BudgetWait[]>;
  /** What was taken of a budget: text of a state that is node-rpc's affair; with the time in milliseconds since 1970. */
  read(key: string): Promise<{ state: string | null; now: number }>;
  /** Stores a state if that before is still the one that was read; returns false if it is not. */
  swap(key: string, before: string | null, after: string): Promise<boolean>;
  /** Forgets a state. */
  forget(key: string): Promise<void>;
}
