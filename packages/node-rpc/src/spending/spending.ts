/** Whom a request is sent for. */
export interface Account {
  /** The owner of a wanted range, or the application of a key. */
  readonly owner: string;
  /** Id of the wanted range. */
  readonly range?: number | undefined;
}

/** The account of what no order and no key asked for, such as the questions for the head. */
export const NOBODY: Account = { owner: '-' };

/** The requests of one process to all its upstreams. */
export interface Spending {
  of(network: string, upstream: { readonly name: string; readonly provider: string }): UpstreamSpending;
}

/** The requests to one upstream. */
export interface UpstreamSpending {
  /** Counts calls that are sent now; a batch of ten counts ten. */
  sent(method: string, calls: number, account: Account): void;
  received(method: string, bytes: number, account: Account): void;
}

/** Counts nothing, for commands that ask nodes once. */
export const UNCOUNTED: Spending = {
  of: () => ({ sent: () => undefined, received: () => undefined }),
};
