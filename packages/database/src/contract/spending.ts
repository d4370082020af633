/** Requests that were sent to one upstream on one day. */
interface SpentCount extends SpentFigures {
  /** Days since 1970-01-01 in UTC. */
  day: number;
  network: string;
  upstream: string;
  provider: string;
  /** By the name that the node knows. */
  method: string;
  /** The owner of a range, or the application of a key; `-`: nobody. */
  owner: string;
  /** Id of the wanted range; null: none. */
  range: number | null;
}

export interface SpentFigures {
  /** A batch of ten counts ten. */
  requests: number;
  /** What they cost by the weights of the provider's budget. */
  units: number;
  /** Received. */
  bytes: number;
}

/** What was asked of nodes, and for whom. Kept 400 days. */
export interface Spending {
  add(counts: readonly SpentCount[]): Promise<void>;
  /** Sums of the days by provider, network, upstream and method. */
  upstreams(
    since: number,
    until: number,
  ): Promise<(SpentFigures & Pick<SpentCount, 'provider' | 'network' | 'upstream' | 'method'>)[]>;
  /** By day and owner. */
  owners(since: number, until: number): Promise<(SpentFigures & Pick<SpentCount, 'day' | 'owner'>)[]>;
  /** Of a wanted range, so far. */
  ofRange(id: number): Promise<SpentFigures>;
  /** Deletes what is older than so many days. */
  forget(days: number): Promise<void>;
}
