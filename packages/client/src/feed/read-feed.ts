import type { Kind } from '@packhouse/chain';
import { type FeedStep, parseFeedStep } from '@packhouse/manifest';
import type { CodedBatch, Match } from '@packhouse/rows';
import { type ErrorCode, isPackhouseError, PackhouseError } from '@packhouse/runtime';
import type { Gateway } from '../fetch/http.js';

/** Which steps are asked for. */
export interface FeedRequest {
  kinds: readonly Kind[];
  /** Of a step: what follows it. */
  cursor?: string | null | undefined;
  /** The first block, without a cursor. `client.follow` begins at the first that is published of all kinds. */
  from?: number | undefined;
  /** Only blocks that are never undone. */
  final?: boolean | undefined;
  /** Leaves out blocks that are missing, and says so, in place of waiting for them. */
  skipHoles?: boolean | undefined;
}

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

/** How long the gateway may wait for a step, in seconds: less than a silent connection is kept. */
const WAIT_SECONDS = 25;
/** Most steps of an answer. Their files are downloaded together. */
const LIMIT = 500;
const MAX_BYTES = 33_554_432;

/**
 * The next steps of the feed: at least one. Waits for them as long as the gateway does. Throws CURSOR_INVALID,
 * CURSOR_FOREIGN, CURSOR_REMOVED, FEED_INVALID, and as `Http.get`.
 */
export async function readFeed(
  { address, http }: Gateway,
  { kinds, cursor, from, final, skipHoles }: FeedRequest,
  signal?: AbortSignal,
): Promise<FeedStep[]> {
  const query = new URLSearchParams({ kinds: [...kinds].sort().join(','), limit: String(LIMIT) });
  if (cursor != null) query.set('cursor', cursor);
  else query.set('from', String(from ?? 0));
  query.set('wait', String(WAIT_SECONDS));
  if (final === true) query.set('final', 'only');
  if (skipHoles === true) query.set('skip', 'holes');
  const text = await http.text(address.api(`feed?${query}`), MAX_BYTES, { signal }).catch(refused);
  const lines = text.split('\n').filter((line) => line !== '');
  if (lines.length > 0) return lines.map((line, at) => parseFeedStep(line, `Line ${at + 1} of the feed`));
  throw new PackhouseError({
    code: 'FEED_INVALID',
    message: "The gateway's feed is empty: expected at least one step.",
    hint: 'Check the address.',
  });
}

/** What a gateway says of a cursor that it refuses. */
const CURSOR_CODES: Readonly<Record<string, ErrorCode>> = {
  'cursor-invalid': 'CURSOR_INVALID',
  'cursor-foreign': 'CURSOR_FOREIGN',
  reorganised: 'CURSOR_REMOVED',
};

function refused(error: unknown): never {
  const reason = isPackhouseError(error, 'DOWNLOAD_FAILED') ? String(error.data.reason) : '';
  const code = CURSOR_CODES[reason];
  if (code === undefined) throw error;
  throw new PackhouseError({
    code,
    message: (error as PackhouseError).message,
    hint: 'Continue with the network, the kinds and the installation that the cursor is of, or begin again in a new target.',
    cause: error,
  });
}
