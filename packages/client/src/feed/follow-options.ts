import type { Kind } from '@packhouse/chain';
import type { CodedBatch, Match } from '@packhouse/rows';
import type { Gateway } from '../fetch/http.js';
import type { FeedRequest } from './read-feed.js';

/** What is followed. */
export interface FollowOptions extends Gateway, FeedRequest {
  /** Which rows of kinds that have accounts, and of logs by their topics. */
  match: Match;
  /** Keeps files and manifests, a folder for each kind in it; absent: a file is removed once its rows are read. */
  folder?: string | undefined;
  /** Public keys to trust; absent: those that the gateway has at first. */
  trustKeyFile?: string | undefined;
  signal: AbortSignal;
}

/** Rows of one kind, of whole blocks, with the columns of `toSchema(kind)`. */
export interface FollowedTable {
  kind: Kind;
  /** Of all rows of `batches`. */
  rows: number;
  batches: readonly CodedBatch[];
}

/** What of a match applies to a kind. Blocks have no account, and only logs have topics. */
export function matchOf(kind: Kind, { addresses, topics }: Match): Match {
  return {
    ...(addresses === undefined || kind === 'blocks' ? {} : { addresses }),
    ...(topics === undefined || kind !== 'logs' ? {} : { topics }),
  };
}
