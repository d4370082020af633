/** The outcomes of asking for one token. */
export const NFT_OUTCOMES = [
  'indexed',
  'missing_token',
  'invalid_uri',
  'invalid_scheme',
  'unreachable',
  'throttled',
  'too_large',
  'invalid_json',
] as const;

export type NftOutcome = (typeof NFT_OUTCOMES)[number];

export type NftJobStatus = 'queued' | 'running' | 'done';

/** The target of a job: all tokens of a contract, those of an owner, or one. */
export interface NftTarget {
  /** Canonical: lower case, no type. */
  contract: string | null;
  owner: string | null;
  /** `0x` hex without leading zeros; only together with `contract`. */
  tokenId: string | null;
}

/** One token of a network. */
export interface NftTokenRef {
  contract: string;
  tokenId: string;
}

/** A job that its holder works on. Its writes are refused once another holder has the lease. */
export interface LeasedNftJob extends NftTarget {
  id: Buffer;
  lease: Buffer;
  network: string;
  /** Its tokens are known. */
  found: boolean;
  failures: number;
  takeovers: number;
}

/** A job as the application that asked for it sees it. */
export interface NftJobView extends NftTarget {
  status: NftJobStatus;
  found: boolean;
  complete: boolean;
  createdAt: Date;
  finishedAt: Date | null;
  /** Tokens by outcome; those without one yet under `waiting`. */
  counts: Readonly<Partial<Record<NftOutcome | 'waiting', number>>>;
}

/** A token of a job. */
export interface NftJobToken extends NftTokenRef {
  position: number;
  outcome: NftOutcome | null;
  askedAt: Date | null;
  refreshed: boolean;
}

/** The stored data of a token. */
export interface NftTokenRow extends NftTokenRef {
  askedAt: Date;
  outcome: NftOutcome | null;
  standard: 'erc721' | 'erc1155' | null;
  uri: string | null;
  metadata: string | null;
  indexedAt: Date | null;
}

/** Jobs that refresh tokens' metadata, shared by all gateways, and their results. */
export interface Nft {
  /**
   * Creates a job, or joins the running one for the same target. Returns null if this would be one more than the
   * `maxOfApplication` running jobs of the application.
   */
  open(
    request: NftTarget & {
      id: Buffer;
      network: string;
      application: string;
      maxOfApplication: number;
      /** Tokens asked for after this are not asked for again. */
      recentAfter: Date;
    },
  ): Promise<{
    id: Buffer;
    status: NftJobStatus;
    made: boolean;
    /** Number of its tokens; null while unknown. */
    tokens: number | null;
    /** The single token was asked for so recently that it is not asked for again. */
    recent: boolean;
  } | null>;
  /** null if there is no such job, or the application did not ask for it. */
  view(request: { id: Buffer; network: string; application: string }): Promise<NftJobView | null>;
  /** Tokens of a job after a position, in order. */
  tokens(id: Buffer, after: number, limit: number): Promise<NftJobToken[]>;
  /** Takes a due job of one of these networks that has no holder or whose lease has expired. */
  claim(request: {
    networks: readonly string[];
    lease: Buffer;
    leaseMs: number;
  }): Promise<LeasedNftJob | null>;
  /** Extends the lease of a job; false: another holder has it. */
  renew(job: LeasedNftJob, leaseMs: number): Promise<boolean>;
  /** Stores the tokens of a job; false: another holder has it. */
  addTokens(job: LeasedNftJob, tokens: readonly NftTokenRef[], complete: boolean): Promise<boolean>;
  /** Tokens of a job without an outcome. */
  waiting(job: LeasedNftJob): Promise<(NftTokenRef & { position: number })[]>;
  /**
   * Claims a token before it is asked for. `mine`: go on. `recent`: it was asked for after `recentAfter`, and the job
   * now has that outcome. `busy`: another job asks for it. `lost`: another holder has the job.
   */
  begin(
    job: LeasedNftJob,
    position: number,
    time: { now: Date; recentAfter: Date },
  ): Promise<'mine' | 'recent' | 'busy' | 'lost'>;
  /** Stores the outcome of a token; false: another holder has the job. */
  settle(
    job: LeasedNftJob,
    position: number,
    result: {
      outcome: NftOutcome;
      standard?: 'erc721' | 'erc1155' | undefined;
      uri?: string | undefined;
      /** JSON text; only if the outcome is `indexed`. */
      metadata?: string | undefined;
    },
  ): Promise<boolean>;
  /** Returns a job to the queue, to be taken again after `delayMs`. */
  release(job: LeasedNftJob, how: { delayMs: number; failed: boolean }): Promise<boolean>;
  /** Ends a job; tokens that have no outcome get `rest`. */
  end(job: LeasedNftJob, rest: NftOutcome): Promise<boolean>;
  /** The stored data of a token. */
  token(network: string, ref: NftTokenRef): Promise<NftTokenRow | null>;
  /** Deletes jobs that ended a day ago or earlier; their results stay. */
  sweep(): Promise<void>;
}
