/**
 * The catalogue of error codes: one row per code, never reused.
 *
 * - `retryable`: a later retry may succeed without any change.
 * - `exitCode`: the exit code of a process that ends because of it (sysexits-like: 2 partial result,
 *   64 usage, 69 something outside is unavailable, 73 cannot write, 75 try again, 78 configuration).
 */
export const ERROR_CATALOGUE = {
  // settings, commands and files
  SETTINGS_INVALID: {
    retryable: false,
    exitCode: 78,
    meaning: 'Environment variables are missing or malformed.',
  },
  NODE_JS_UNUSABLE: {
    retryable: false,
    exitCode: 78,
    meaning: 'This Node.js has no WebAssembly, which hashes and HTTP need.',
  },
  USAGE: { retryable: false, exitCode: 64, meaning: 'A command was called with options that do not fit.' },
  NETWORKS_FILE_INVALID: {
    retryable: false,
    exitCode: 78,
    meaning: 'The networks file is missing or malformed.',
  },
  NETWORK_UNKNOWN: {
    retryable: false,
    exitCode: 64,
    meaning: 'A network was named that the networks file does not have.',
  },
  DATA_DIR_NEWER: {
    retryable: false,
    exitCode: 78,
    meaning: 'The data folder was written by a newer version.',
  },
  DATA_DIR_BUSY: { retryable: false, exitCode: 75, meaning: 'Another process works in this data folder.' },
  DATA_DIR_UNUSABLE: {
    retryable: false,
    exitCode: 73,
    meaning: 'The data folder cannot be read or written.',
  },
  DISK_FULL: { retryable: true, exitCode: 73, meaning: 'No space is left where data has to be written.' },
  OUTPUT_FAILED: {
    retryable: true,
    exitCode: 73,
    meaning: 'The output of a command cannot be written.',
  },
  PORT_IN_USE: { retryable: false, exitCode: 69, meaning: 'The port asked for is taken.' },
  CHILD_FAILED: {
    retryable: true,
    exitCode: 69,
    meaning: 'A process that Packhouse started could not start or keeps ending.',
  },
  DEMO_CHAIN_DISTURBED: {
    retryable: true,
    exitCode: 69,
    meaning: 'Somebody else sent transactions to the demo chain.',
  },
  // nodes
  NODE_UNREACHABLE: { retryable: true, exitCode: 69, meaning: 'No connection to the node, or it was reset.' },
  NODE_TIMEOUT: { retryable: true, exitCode: 69, meaning: 'The node did not answer in time.' },
  NODE_RATE_LIMITED: { retryable: true, exitCode: 69, meaning: 'The node asked for fewer requests.' },
  NODE_HTTP_ERROR: {
    retryable: true,
    exitCode: 69,
    meaning: 'The node answered with a failing HTTP status.',
  },
  NODE_NOT_JSON_RPC: {
    retryable: true,
    exitCode: 69,
    meaning: 'The node answered with something that is not JSON-RPC.',
  },
  NODE_ERROR: { retryable: true, exitCode: 69, meaning: 'The node answered with a JSON-RPC error.' },
  NODE_UNAUTHORIZED: { retryable: false, exitCode: 69, meaning: 'The node refused the credentials.' },
  BUDGET_EXHAUSTED: {
    retryable: true,
    exitCode: 75,
    meaning:
      "What a provider may be asked in this day or month is used up; backfills leave the budget's reserve.",
  },
  BUDGET_UNAVAILABLE: {
    retryable: true,
    exitCode: 69,
    meaning: "Redis or Postgres, which count what the processes take of a provider's budget, cannot be used.",
  },
  BUDGET_UNKNOWN: { retryable: false, exitCode: 64, meaning: 'The provider has no budget.' },
  NODE_WRONG_CHAIN: {
    retryable: false,
    exitCode: 78,
    meaning: 'The node serves another chain than the networks file says.',
  },
  NODE_METHOD_MISSING: {
    retryable: false,
    exitCode: 69,
    meaning: 'No upstream offers a method that the wanted kinds need.',
  },
  CALLS_SPENT: {
    retryable: false,
    exitCode: 69,
    meaning: 'What a command may ask of the nodes was not enough.',
  },
  NODE_ANSWER_MISSING: {
    retryable: true,
    exitCode: 69,
    meaning: 'The node answered null or an empty list where data must exist.',
  },
  NODE_ANSWER_TOO_LARGE: {
    retryable: false,
    exitCode: 69,
    meaning: 'An answer is larger than the limit and cannot be streamed.',
  },
  NODE_ANSWER_FALSE: {
    retryable: true,
    exitCode: 69,
    meaning: 'A node sent a client an answer that its own block contradicts.',
  },
  NODE_ANSWER_INVALID: {
    retryable: true,
    exitCode: 69,
    meaning: 'An answer does not have the shape that the method has.',
  },
  // blocks
  BLOCKS_UNAVAILABLE: {
    retryable: true,
    exitCode: 2,
    meaning: 'No upstream keeps a part of the chain, or its receipts or traces.',
  },
  RECORD_INVALID: {
    retryable: true,
    exitCode: 2,
    meaning: 'A record lacks a required field or has one of the wrong form.',
  },
  PROOF_FAILED: {
    retryable: true,
    exitCode: 2,
    meaning: 'Data disagrees with what its block header commits to.',
  },
  FORK_UNKNOWN: {
    retryable: true,
    exitCode: 2,
    meaning: 'Upstreams agree about blocks with header fields that this version does not know.',
  },
  // ranges
  RANGE_INVALID: {
    retryable: false,
    exitCode: 64,
    meaning: 'A block range is malformed, negative or reversed.',
  },
  RANGE_BEYOND_HEAD: {
    retryable: false,
    exitCode: 64,
    meaning: 'A block range starts beyond the head of the chain.',
  },
  RANGE_INCOMPLETE: { retryable: true, exitCode: 2, meaning: 'Parts of the wanted range could not be had.' },
  KIND_UNKNOWN: { retryable: false, exitCode: 64, meaning: 'A kind was named that does not exist.' },
  // bundles and objects
  NAME_INVALID: {
    retryable: false,
    exitCode: 64,
    meaning: 'An object key or file name is not in canonical form.',
  },
  BUNDLE_INVALID: {
    retryable: false,
    exitCode: 2,
    meaning: 'The bytes of a bundle are not what they should be.',
  },
  OBJECT_MISSING: { retryable: false, exitCode: 69, meaning: 'There is no object under this key.' },
  OBJECT_MISMATCH: {
    retryable: true,
    exitCode: 69,
    meaning: 'An object read back differs from what was written.',
  },
  OBJECT_STORE_UNAVAILABLE: {
    retryable: true,
    exitCode: 69,
    meaning: 'The object store cannot be reached or refuses to work.',
  },
  OBJECT_STORE_INVALID: {
    retryable: false,
    exitCode: 78,
    meaning: 'OBJECT_STORE or its credentials are wrong.',
  },
  FILE_UNKNOWN: { retryable: false, exitCode: 64, meaning: 'There is no such published file.' },
  FILE_TOO_LARGE: { retryable: false, exitCode: 2, meaning: 'A file is larger than a page may open.' },
  // audits
  REPAIR_REFUSED: {
    retryable: false,
    exitCode: 2,
    meaning: 'The nodes have other blocks than a damaged bundle was published with.',
  },
  REPAIR_FAILED: {
    retryable: true,
    exitCode: 2,
    meaning: 'A damaged bundle cannot be built again, for now.',
  },
  ORPHANS_BUSY: {
    retryable: true,
    exitCode: 75,
    meaning: 'Orphaned objects cannot be deleted while packers are at work.',
  },
  AUDIT_EMPTY: {
    retryable: false,
    exitCode: 64,
    meaning: 'Nothing is published in the range to be audited.',
  },
  // database and queue
  DATABASE_UNAVAILABLE: { retryable: true, exitCode: 69, meaning: 'Postgres cannot be reached.' },
  DATABASE_NEWER: {
    retryable: false,
    exitCode: 78,
    meaning: 'The database schema was changed by a newer version so that this program cannot run on it.',
  },
  DATABASE_NOT_MIGRATED: {
    retryable: true,
    exitCode: 75,
    meaning: 'The database schema is older than this program.',
  },
  DATABASE_BUSY: {
    retryable: true,
    exitCode: 75,
    meaning: 'A migration could not get a lock: long transactions are in its way.',
  },
  STAGE_CONFLICT: {
    retryable: true,
    exitCode: 75,
    meaning: 'A block does not fit its staged or published neighbours.',
  },
  BUNDLE_OVERLAP: {
    retryable: false,
    exitCode: 75,
    meaning: 'A bundle would overlap one that is already published.',
  },
  BUNDLE_CHANGED: {
    retryable: false,
    exitCode: 75,
    meaning: 'A bundle that was to be replaced is not the published one any more.',
  },
  // the manifest
  MANIFEST_INVALID: {
    retryable: false,
    exitCode: 2,
    meaning: 'A manifest is damaged: an entry is not what it was, is missing, or carries no valid signature.',
  },
  DOWNLOAD_FAILED: {
    retryable: true,
    exitCode: 69,
    meaning: 'A manifest, its keys or a file could not be downloaded.',
  },
  API_KEY_REFUSED: {
    retryable: false,
    exitCode: 69,
    meaning:
      'The gateway does not take this API key: it is unknown, revoked, expired, or for something else.',
  },
  PLAN_LIMIT: { retryable: false, exitCode: 2, meaning: 'The plan of the API key ends before these blocks.' },
  TARGET_MISMATCH: {
    retryable: false,
    exitCode: 64,
    meaning: 'A table or a folder of rows has other rows or other columns than were asked for.',
  },
  FOLDER_MISMATCH: {
    retryable: false,
    exitCode: 64,
    meaning: 'A folder of downloads was filled from another network, with another kind or under other keys.',
  },
  ABI_INVALID: {
    retryable: false,
    exitCode: 64,
    meaning: 'A contract ABI cannot be read, or does not have the event that was asked for.',
  },
  SIGNING_KEY_INVALID: {
    retryable: false,
    exitCode: 78,
    meaning: 'The file of the signing key holds something else.',
  },
  SIGNING_KEY_MISSING: {
    retryable: false,
    exitCode: 78,
    meaning: 'The manifest is signed, and the private key to go on with is not here.',
  },
  SIGNING_KEY_CHANGED: {
    retryable: false,
    exitCode: 78,
    meaning: 'The signing key that is here is not the one that the manifest is signed with.',
  },
  // the queue
  QUEUE_UNAVAILABLE: {
    retryable: true,
    exitCode: 69,
    meaning: 'The queue (Redis or Postgres) cannot be reached.',
  },
  QUEUE_PAYLOAD_INVALID: {
    retryable: false,
    exitCode: 70,
    meaning: 'A job carries a payload of the wrong form.',
  },
  REORG_BELOW_FINALITY: {
    retryable: true,
    exitCode: 75,
    meaning: 'The chain has another block where one is final already, or published.',
  },
  WORKER_UNKNOWN: { retryable: false, exitCode: 64, meaning: 'There is no such living worker.' },
  SCHEDULE_UNKNOWN: { retryable: false, exitCode: 64, meaning: 'There is no such schedule.' },
  SCHEDULE_INVALID: {
    retryable: false,
    exitCode: 64,
    meaning: 'The times or the command of a schedule cannot be.',
  },
  ALARM_UNKNOWN: { retryable: false, exitCode: 64, meaning: 'There is no such open alarm.' },
  // keys and plans
  KEY_UNKNOWN: { retryable: false, exitCode: 64, meaning: 'There is no such key.' },
  PLAN_UNKNOWN: { retryable: false, exitCode: 64, meaning: 'There is no such plan.' },
  QUARANTINE_UNKNOWN: {
    retryable: false,
    exitCode: 64,
    meaning: 'The block is not quarantined.',
  },
  WINDOW_INVALID: {
    retryable: false,
    exitCode: 64,
    meaning: 'A window of time is malformed, never opens, or names an unknown zone.',
  },
  BACKFILL_UNKNOWN: { retryable: false, exitCode: 64, meaning: 'There is no such backfill.' },
  // the console
  INPUT_INVALID: { retryable: false, exitCode: 64, meaning: 'What was sent to the console does not fit.' },
  SIGN_IN_REQUIRED: { retryable: false, exitCode: 64, meaning: 'The console does not know who asks.' },
  SIGN_IN_REFUSED: {
    retryable: false,
    exitCode: 64,
    meaning: 'A link, password or key signs nobody in.',
  },
  SIGN_IN_LOCKED: { retryable: true, exitCode: 75, meaning: 'Too many attempts to sign in failed.' },
  ROLE_TOO_LOW: { retryable: false, exitCode: 64, meaning: 'Whoever asks may not do that.' },
  CSRF_REFUSED: {
    retryable: false,
    exitCode: 64,
    meaning: 'A change was sent by a page that is not of this console.',
  },
  CHANGED_MEANWHILE: {
    retryable: false,
    exitCode: 64,
    meaning: 'Someone else changed it since it was read.',
  },
  HOST_REFUSED: {
    retryable: false,
    exitCode: 64,
    meaning: 'The console was asked under a name that is not its own.',
  },
  OPERATOR_UNKNOWN: { retryable: false, exitCode: 64, meaning: 'There is no such operator.' },
  OPERATOR_EXISTS: { retryable: false, exitCode: 64, meaning: 'There is an operator of this name already.' },
  CONSOLE_UNAVAILABLE: { retryable: true, exitCode: 69, meaning: 'The console cannot be reached.' },
  NODE_UNKNOWN: { retryable: false, exitCode: 64, meaning: 'There is no such node, or it is not cordoned.' },
  LISTENERS_FULL: {
    retryable: true,
    exitCode: 75,
    meaning: 'As many pages listen to the console as may.',
  },
  PAGE_UNKNOWN: { retryable: false, exitCode: 64, meaning: 'The console has no such address.' },
  // anything else
  INTERNAL: { retryable: false, exitCode: 70, meaning: 'A fault of Packhouse itself.' },
} as const satisfies Record<string, { retryable: boolean; exitCode: number; meaning: string }>;

/** A code of the catalogue. */
export type ErrorCode = keyof typeof ERROR_CATALOGUE;
