/** What came of asking for one token. */
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

/** What a job refreshes: all tokens of a contract, those of an owner, or one. */
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

/** A job that its holder works on. Whatever it writes is refused once `lease` is somebody else's. */
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

/** What is known of a token. */
export interface NftTokenRow extends NftTokenRef {
  askedAt: Date;
  outcome: NftOutcome | null;
  standard: 'erc721' | 'erc1155' | null;
  uri: string | null;
  metadata: string | null;
  indexedAt: Date | null;
}

/** Jobs that refresh tokens' metadata, shared by all gateways, and what they found. */
export interface Nft {
  /**
   * Makes a job, or joins the one that is under way for the same target. null if the application has
   * `maxOfApplication` jobs under way already and this would be another.
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
    /** Tokens that it has; null while that is not known. */
    tokens: number | null;
    /** The one token was asked for so shortly before that it is not asked for again. */
    recent: boolean;
  } | null>;
  /** null if there is no such job, or the application did not ask for it. */
  view(request: { id: Buffer; network: string; application: string }): Promise<NftJobView | null>;
  /** Tokens of a job behind a position, in order. */
  tokens(id: Buffer, after: number, limit: number): Promise<NftJobToken[]>;
  /** Takes a job that is due on one of these networks, whose holder has gone or which has none. */
  claim(request: {
    networks: readonly string[];
    lease: Buffer;
    leaseMs: number;
  }): Promise<LeasedNftJob | null>;
  /** Keeps a job for longer; false: it is somebody else's. */
  renew(job: LeasedNftJob, leaseMs: number): Promise<boolean>;
  /** Notes which tokens a job has; false: it is somebody else's. */
  addTokens(job: LeasedNftJob, tokens: readonly NftTokenRef[], complete: boolean): Promise<boolean>;
  /** Tokens of a job without an outcome. */
  waiting(job: LeasedNftJob): Promise<(NftTokenRef & { position: number })[]>;
  /**
   * Asks for leave to ask for a token now. `mine`: go on. `recent`: it was asked for after `recentAfter`, and the job has
   * that outcome now. `busy`: another job is at it. `lost`: the job is somebody else's.
   */
  begin(
    job: LeasedNftJob,
    position: number,
    time: { now: Date; recentAfter: Date },
  ): Promise<'mine' | 'recent' | 'busy' | 'lost'>;
  /** Notes what came of a token; false: the job is somebody else's. */
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
  /** What is known of a token. */
  token(network: string, ref: NftTokenRef): Promise<NftTokenRow | null>;
  /** Deletes jobs that were done a day ago; what they found stays. */
  sweep(): Promise<void>;
}
