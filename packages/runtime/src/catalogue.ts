interface CatalogueRow {
  /** A later retry may succeed without any change. */
  retryable: boolean;
  /**
   * Of a process that ends because of it (sysexits-like: 2 partial result, 64 usage, 69 something outside is
   * unavailable, 73 cannot write, 75 try again, 78 configuration).
   */
  exitCode: number;
  meaning: string;
}

const final = (exitCode: number, meaning: string): CatalogueRow => ({ retryable: false, exitCode, meaning });
const retryable = (exitCode: number, meaning: string): CatalogueRow => ({
  retryable: true,
  exitCode,
  meaning,
});

/** The catalogue of error codes: one row per code, never reused. */
export const ERROR_CATALOGUE = {
  // settings, commands and files
  SETTINGS_INVALID: final(78, 'Environment variables are missing or malformed.'),
  NODE_JS_UNUSABLE: final(78, 'This Node.js lacks WebAssembly, which hashes and HTTP need.'),
  PACKAGE_MISSING: final(78, 'A package that this command needs is not installed.'),
  USAGE: final(64, 'Options of a command are wrong.'),
  NETWORKS_FILE_INVALID: final(78, 'The networks file is missing or malformed.'),
  NETWORK_UNKNOWN: final(64, 'The networks file does not have this network.'),
  DATA_DIR_NEWER: final(78, 'The data folder was written by a newer version.'),
  DATA_DIR_OLDER: final(78, 'The data folder was written by a version that is too old.'),
  DATA_DIR_BUSY: final(75, 'Another process uses this data folder.'),
  DATA_DIR_UNUSABLE: final(73, 'The data folder cannot be read or written.'),
  DISK_FULL: retryable(73, 'No space is left on a disk.'),
  OUTPUT_FAILED: retryable(73, 'The output of a command cannot be written.'),
  PORT_IN_USE: final(69, 'The port is in use.'),
  CHILD_FAILED: retryable(69, 'A process that Packhouse started does not start or keeps ending.'),
  DEMO_CHAIN_DISTURBED: retryable(69, 'Somebody else sent transactions to the demo chain.'),
  // nodes
  NODE_UNREACHABLE: retryable(69, 'No connection to the node, or it was reset.'),
  NODE_TIMEOUT: retryable(69, 'The node did not answer in time.'),
  NODE_RATE_LIMITED: retryable(69, 'The node asked for fewer requests.'),
  NODE_HTTP_ERROR: retryable(69, 'The node answered with a failing HTTP status.'),
  NODE_NOT_JSON_RPC: retryable(69, "The node's answer is not JSON-RPC."),
  NODE_ERROR: retryable(69, 'The node answered with a JSON-RPC error.'),
  NODE_UNAUTHORIZED: final(69, 'The node refused the credentials.'),
  BUDGET_EXHAUSTED: retryable(
    75,
    "A provider's budget for this day or month is used up; backfills stop at its reserve.",
  ),
  BUDGET_UNAVAILABLE: retryable(69, 'Redis or Postgres, which count requests to providers, cannot be used.'),
  BUDGET_UNKNOWN: final(64, 'The provider has no budget.'),
  NODE_WRONG_CHAIN: final(78, 'The node is on another chain than the networks file says.'),
  NODE_METHOD_MISSING: final(69, 'No upstream offers a method that the requested kinds need.'),
  CALLS_SPENT: final(69, "A command's limit of calls to nodes was not enough."),
  NODE_ANSWER_MISSING: retryable(69, 'The node answered null or an empty list for existing data.'),
  NODE_ANSWER_TOO_LARGE: final(69, 'An answer exceeds the limit and cannot be streamed.'),
  NODE_ANSWER_FALSE: retryable(69, "A block contradicts a node's answer to a client."),
  NODE_ANSWER_INVALID: retryable(69, 'An answer has another shape than its method.'),
  NODES_DISAGREE: retryable(75, 'Nodes have different final blocks.'),
  // blocks
  BLOCKS_UNAVAILABLE: retryable(2, 'No upstream has a part of the chain, or its receipts or traces.'),
  RECORD_INVALID: retryable(2, 'A field of a record is missing or malformed.'),
  PROOF_FAILED: retryable(2, 'Data contradicts its block header.'),
  FORK_UNKNOWN: retryable(2, 'Upstreams agree about blocks with header fields unknown to this version.'),
  // ranges
  RANGE_INVALID: final(64, 'A block range is malformed, negative or reversed.'),
  RANGE_BEYOND_HEAD: final(64, 'A block range starts beyond the head.'),
  RANGE_INCOMPLETE: retryable(2, 'Parts of the requested range are missing.'),
  KIND_UNKNOWN: final(64, 'There is no such kind.'),
  // bundles and objects
  NAME_INVALID: final(64, 'An object key or file name is not canonical.'),
  BUNDLE_INVALID: final(2, 'The bytes of a bundle are invalid.'),
  OBJECT_MISSING: final(69, 'There is no object with this key.'),
  OBJECT_MISMATCH: retryable(69, 'An object differs from what was written.'),
  OBJECT_EXISTS: retryable(75, 'Another object has the key of a new one, and is not replaced.'),
  OBJECT_STORE_UNAVAILABLE: retryable(69, 'The object store cannot be reached or fails.'),
  OBJECT_STORE_INVALID: final(78, 'OBJECT_STORE or its credentials are wrong.'),
  FILE_UNKNOWN: final(64, 'There is no such published file.'),
  FILE_TOO_LARGE: final(2, 'A file is too large for a page.'),
  // audits
  REPAIR_REFUSED: final(2, 'The nodes have other blocks than a damaged bundle.'),
  REPAIR_FAILED: retryable(2, 'A damaged bundle cannot be rebuilt now.'),
  PACKERS_BUSY: retryable(75, 'Objects cannot be deleted or adopted while packers run.'),
  ADOPT_EMPTY: final(64, 'The object store has no signed log to adopt.'),
  AUDIT_EMPTY: final(64, 'Nothing is published in the range to audit.'),
  // database and queue
  DATABASE_UNAVAILABLE: retryable(69, 'Postgres cannot be reached.'),
  LEASE_LOST: retryable(75, 'Another process does this work now.'),
  DATABASE_UNSUPPORTED: final(
    78,
    'The version of Postgres is too old, or a pooler before it has no sessions.',
  ),
  DATABASE_NEWER: final(78, 'The database schema is too new for this program.'),
  DATABASE_OLDER: final(78, 'The database schema is too old to be migrated.'),
  DATABASE_NOT_MIGRATED: retryable(75, 'The database schema is older than this program.'),
  DATABASE_BUSY: retryable(75, 'A migration could not get a lock because of long transactions.'),
  STAGE_CONFLICT: retryable(75, 'A block does not fit its staged or published neighbours.'),
  BUNDLE_OVERLAP: final(75, 'A bundle would overlap a published one.'),
  BUNDLE_CHANGED: final(75, 'A bundle to be replaced is no longer the published one.'),
  // the manifest
  MANIFEST_INVALID: final(2, 'An entry of a manifest is changed, missing, or not validly signed.'),
  FEED_INVALID: retryable(2, 'A step of a feed is malformed, or contradicts the steps before it.'),
  CURSOR_INVALID: final(64, 'A cursor of a feed is cut off, changed, or not from a feed.'),
  CURSOR_FOREIGN: final(64, 'A cursor of a feed belongs to another network or installation.'),
  CURSOR_REMOVED: final(2, 'A final block of a cursor is no longer in the chain.'),
  DOWNLOAD_FAILED: retryable(69, 'A manifest, its keys or a file could not be downloaded.'),
  API_KEY_REFUSED: final(69, 'The API key is unknown, revoked, expired, or restricted.'),
  PLAN_LIMIT: final(2, 'The plan of the API key ends before these blocks.'),
  TARGET_MISMATCH: final(64, 'A table or folder has other rows or columns than requested.'),
  FOLDER_MISMATCH: final(64, 'A folder has downloads of another network, kind or key.'),
  ABI_INVALID: final(64, 'A contract ABI is malformed, or lacks the requested event.'),
  MANIFEST_REWOUND: retryable(75, 'The database lost entries of a manifest that were appended before.'),
  SIGNING_KEY_INVALID: final(78, 'The file of the signing key has no valid key.'),
  SIGNING_KEY_MISSING: final(78, 'The manifest is signed, and its private key is missing.'),
  SIGNING_KEY_CHANGED: final(78, "The signing key is not the manifest's."),
  // the queue
  QUEUE_UNAVAILABLE: retryable(69, 'The queue (Redis or Postgres) cannot be reached.'),
  QUEUE_UNSUPPORTED: final(78, 'The Redis of the queue is too old, evicts keys, or is a node of a cluster.'),
  QUEUE_PAYLOAD_INVALID: final(70, 'The payload of a job is malformed.'),
  REORG_BELOW_FINALITY: retryable(75, 'The chain has another block in place of a final or published one.'),
  WORKER_UNKNOWN: final(64, 'There is no such running worker.'),
  SCHEDULE_UNKNOWN: final(64, 'There is no such schedule.'),
  SCHEDULE_INVALID: final(64, 'The times or the command of a schedule are invalid.'),
  ALARM_UNKNOWN: final(64, 'There is no such open alarm.'),
  // keys and plans
  KEY_UNKNOWN: final(64, 'There is no such key.'),
  KEY_REVOKED: final(64, 'The key is revoked: it cannot be changed.'),
  KEYS_SPENT: retryable(75, 'An operator has created as many API keys as he may within a day.'),
  APPLICATION_UNKNOWN: final(64, 'There is no such application.'),
  APPLICATION_EXISTS: final(64, 'An application of this name exists.'),
  APPLICATION_ARCHIVED: final(64, 'The application is archived: it gets no keys.'),
  PLAN_UNKNOWN: final(64, 'There is no such plan.'),
  QUARANTINE_UNKNOWN: final(64, 'The block is not quarantined.'),
  WINDOW_INVALID: final(64, 'A window of time is malformed, never opens, or has an unknown zone.'),
  BACKFILL_UNKNOWN: final(64, 'There is no such backfill.'),
  // the console
  INPUT_INVALID: final(64, "The console's input is invalid."),
  SIGN_IN_REQUIRED: final(64, 'The request to the console has no session or token.'),
  SIGN_IN_REFUSED: final(64, 'The link, password or key is not valid.'),
  SIGN_IN_LOCKED: retryable(75, 'Too many sign-ins failed.'),
  OIDC_UNAVAILABLE: retryable(69, 'The OIDC provider cannot be used.'),
  OIDC_REFUSED: final(64, 'The sign-in at the OIDC provider failed or does not fit.'),
  OIDC_NO_ROLE: final(64, 'The OIDC provider signed in somebody who has no role here.'),
  ROLE_TOO_LOW: final(64, 'The role does not allow this.'),
  CSRF_REFUSED: final(64, 'A page of another origin sent a change.'),
  CHANGED_MEANWHILE: final(64, 'Somebody else changed it since it was read.'),
  HOST_REFUSED: final(64, 'The console was requested under another name than its own.'),
  OPERATOR_UNKNOWN: final(64, 'There is no such operator.'),
  OPERATOR_EXISTS: final(64, 'An operator of this name exists.'),
  CONSOLE_UNAVAILABLE: retryable(69, 'The console cannot be reached.'),
  NODE_UNKNOWN: final(64, 'There is no such node, or it is not cordoned.'),
  LISTENERS_FULL: retryable(75, 'Too many pages listen to the console.'),
  PAGE_UNKNOWN: final(64, 'The console has no such page.'),
  // webhooks
  HOOK_UNKNOWN: final(64, 'There is no such webhook.'),
  HOOK_INVALID: final(64, 'The address, kinds or filter of a webhook are invalid.'),
  HOOK_FAILED: retryable(75, 'The receiver of a webhook did not accept a delivery.'),
  HOOK_QUARANTINED: final(75, 'A webhook accepted no delivery for days, and is not tried any more.'),
  // notifications
  NOTIFICATION_UNKNOWN: final(64, 'There is no such channel of notifications.'),
  NOTIFICATION_INVALID: final(
    64,
    'The address, recipients or filter of a channel of notifications are invalid.',
  ),
  NOTIFICATIONS_FAILING: final(
    75,
    'A channel of notifications has accepted nothing for a quarter of an hour.',
  ),
  ADDRESS_REFUSED: final(64, 'An address that a stranger chose is not public, or not allowed.'),
  // the lake
  TABLE_UNKNOWN: final(64, 'The lake has no such table.'),
  LAKE_SCHEMA_CHANGED: final(
    70,
    'A table of the lake has a column that this version does not write, or as another type.',
  ),
  LAKE_INCOMPLETE: retryable(
    75,
    'A file of the lake could not be written; its table lacks blocks that are published.',
  ),
  // anything else
  INTERNAL: final(70, 'A fault of Packhouse itself.'),
} satisfies Record<string, CatalogueRow>;

/** A code of the catalogue. */
export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** The parts of an error; `message` is one sentence: what, where, expected, got. */
interface PackhouseErrorOptions {
  code: ErrorCode;
  message: string;
  /** Advice, as one sentence. */
  hint?: string | undefined;
  /** Facts for programs (block, range, upstream, …); never a secret. */
  data?: Record<string, unknown> | undefined;
  cause?: unknown;
  /** Overrides `retryable` of the catalogue. */
  retryable?: boolean | undefined;
}

/** The one error class: a code of the catalogue, a sentence, a hint and facts. */
export class PackhouseError extends Error {
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly hint: string | undefined;
  readonly data: Record<string, unknown>;

  constructor(options: PackhouseErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PackhouseError';
    this.code = options.code;
    this.retryable = options.retryable ?? ERROR_CATALOGUE[options.code].retryable;
    this.hint = options.hint;
    this.data = options.data ?? {};
  }

  /** The exit code of a process that ends because of this error. */
  get exitCode(): number {
    return ERROR_CATALOGUE[this.code].exitCode;
  }
}

/** Whether `error` is a PackhouseError, of the given code if one is named. */
export function isPackhouseError(error: unknown, code?: ErrorCode): error is PackhouseError {
  return error instanceof PackhouseError && (code === undefined || error.code === code);
}

/** Whether a provider's budget keeps a call back: a matter of time, no fault of a node, a block or a job. */
export function isBudgetError(error: unknown): error is PackhouseError {
  return isPackhouseError(error, 'BUDGET_EXHAUSTED') || isPackhouseError(error, 'BUDGET_UNAVAILABLE');
}

/** An error for the end of a process: unchanged if it is of the catalogue, else INTERNAL with the first line of its message. */
export function toFinalError(error: unknown, hint?: string): PackhouseError {
  if (error instanceof PackhouseError) return error;
  const said = describeError(error)
    .split('\n', 1)[0]
    ?.replace(/[.:]*$/, '');
  return new PackhouseError({
    code: 'INTERNAL',
    message: `Packhouse failed: ${said === '' ? 'no reason is known' : said}.`,
    hint,
    cause: error,
  });
}

/** One line for operators: the sentence, the hint, the code. Never a stack trace. */
export function describeError(error: unknown): string {
  if (error instanceof PackhouseError) {
    return `${error.message}${error.hint === undefined ? '' : ` ${error.hint}`} [${error.code}]`;
  }
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(describeError).join('; ');
  }
  return error instanceof Error ? error.message : String(error);
}

/**
 * How much an error says about a block that several nodes were asked for. What contradicts a header, or itself, was seen
 * to be false; whatever another node lacks, or answers too late, does not make that true. FORK_UNKNOWN is decided over
 * all nodes together.
 */
const WEIGHTS: Readonly<Partial<Record<ErrorCode, number>>> = {
  PROOF_FAILED: 4,
  RECORD_INVALID: 3,
  NODE_ANSWER_FALSE: 2,
  NODE_ANSWER_INVALID: 2,
  INTERNAL: 1,
};

/** The weight of an error code, 0 for those that are no finding. */
export function getWeight(code: string): number {
  return WEIGHTS[code as ErrorCode] ?? 0;
}

/** The error that says more about the block; the later one if both say as much. */
export function heavier(known: Error | undefined, later: Error): Error {
  return known !== undefined && weigh(known) > weigh(later) ? known : later;
}

/** An error of another class is a fault of Packhouse itself. */
function weigh(error: Error): number {
  return getWeight(isPackhouseError(error) ? error.code : 'INTERNAL');
}
