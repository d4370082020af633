/** The pure rooms, the ports, and what may be told from the whole. */
const PURE = ['runtime', 'json', 'kernels', 'chain', 'bundle', 'manifest', 'networks'];
/** What is built of the steps. */
const ON_STEPS = ['lake', 'audit', 'report', 'feed', 'delivery'];
const PORTS = ['node-rpc', 'database', 'object-store', 'queue', 'outbound'];
const ALL_BUT_APPS = [
  ...PURE,
  'rows',
  'client',
  ...PORTS,
  'pipeline',
  ...ON_STEPS,
  'operations',
  'local',
  'recordings',
  'replay-node',
  'scripted-s3',
  'rig',
];

/** Which workspaces each one may import, by their short names. Whoever is not named here may import nobody. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  runtime: [],
  json: ['runtime'],
  kernels: ['runtime'],
  chain: ['runtime', 'kernels'],
  bundle: ['runtime', 'json', 'kernels', 'chain'],
  manifest: ['runtime', 'chain', 'bundle'],
  rows: ['runtime', 'json', 'chain', 'bundle', 'kernels'],
  client: ['runtime', 'json', 'chain', 'bundle', 'manifest', 'rows'],
  networks: ['runtime', 'chain'],
  'node-rpc': PURE,
  database: ['runtime', 'chain', 'bundle', 'manifest'],
  'object-store': PURE,
  queue: PURE,
  outbound: ['runtime'],
  pipeline: [...PURE, ...PORTS],
  lake: [...PURE, ...PORTS, 'rows', 'pipeline'],
  audit: [...PURE, ...PORTS, 'pipeline', 'lake'],
  report: [...PURE, ...PORTS, 'pipeline', 'lake'],
  feed: [...PURE, ...PORTS, 'pipeline', 'report'],
  delivery: [...PURE, ...PORTS, 'pipeline'],
  operations: [...PURE, ...PORTS, 'pipeline', 'lake', 'report', 'delivery'],
  nft: ['runtime', 'chain', 'networks', 'node-rpc', 'database', 'outbound'],
  gateway: [...PURE, ...PORTS, 'pipeline', 'lake', 'audit', 'report', 'feed', 'nft'],
  ingester: [...PURE, ...PORTS, 'pipeline', 'report'],
  packer: [...PURE, ...PORTS, 'pipeline', ...ON_STEPS],
  console: [...PURE, ...PORTS, 'pipeline', 'report', 'operations'],
  cli: [...PURE, 'rows', 'client', ...PORTS, 'pipeline', ...ON_STEPS, 'operations', 'local'],
  local: ['runtime'],
  // Its programs ask a node and prove what they record or make.
  recordings: ['runtime', 'kernels', 'chain', 'node-rpc', 'local'],
  'replay-node': PURE,
  'scripted-s3': [],
  rig: ['chain', 'local'],
  e2e: ALL_BUT_APPS,
  clients: ALL_BUT_APPS,
  'browser-tests': ALL_BUT_APPS,
  attack: ALL_BUT_APPS,
  bench: ALL_BUT_APPS,
  fuzz: ALL_BUT_APPS,
  simulation: ALL_BUT_APPS,
  architecture: [],
};

/** Tests may use the services and what stands in for others beside what their room may import. */
export const TESTS_MAY_IMPORT: readonly string[] = ['local', 'recordings', 'replay-node', 'scripted-s3'];

/** Exceptions by file, each with its reason. */
export const FILE_MAY_IMPORT: Readonly<Record<string, { names: readonly string[]; reason: string }>> = {
  'infra/local/src/test-services.ts': {
    names: ['database'],
    reason: 'migrates the template that tests copy',
  },
  'packages/pipeline/src/ingest/fork-unknown.test.ts': {
    names: ['report'],
    reason: 'asks how a backfill goes on',
  },
  'packages/pipeline/src/ingest/missing-kind.test.ts': { names: ['report'], reason: 'asks for the holes' },
  'packages/pipeline/src/ingest/missing-withdrawals.test.ts': {
    names: ['audit'],
    reason: 'audits what was published',
  },
  'packages/pipeline/src/publish/publish.test.ts': {
    names: ['audit'],
    reason: 'reads when blocks were published',
  },
  'packages/lake/src/writer/bad-days.test.ts': { names: ['audit'], reason: 'audits what the writer left' },
  'packages/lake/src/writer/lake-writer.test.ts': {
    names: ['audit'],
    reason: 'repairs a bundle that it reads',
  },
  'infra/local/src/fresh-database.ts': { names: ['database'], reason: 'copies the template for one test' },
};

/**
 * The pages that browsers get, and the workspaces of which they may take values; types they may take of all that the room
 * around them may import. Packages of others are bundled: they are its devDependencies.
 */
export const PAGES = { folder: 'apps/console/web/', values: ['runtime', 'json'] };

/** Programs that may be started or run by name, whose names nobody imports: `import.meta.resolve('@packhouse/x/main')`. */
export const STARTS: Readonly<Record<string, readonly string[]>> = {
  cli: ['gateway', 'ingester', 'packer', 'console'],
};

/** Who may read the environment, listen to signals or exit. */
export const PROCESS_FILES: readonly RegExp[] = [
  /^apps\/[^/]+\/src\/main\.ts$/,
  /^test\/[^/]+\/src\/main\.ts$/,
  // Test code whole: it starts processes and hands them their environment.
  /^test\/(attack|browser|e2e|bench|clients|fuzz|recordings|rig|simulation)\/src\//,
  /^infra\/local\/src\/test-services\.ts$/,
  // Reads the proxies that undici reads, so that requests without one do not ask for it.
  /^packages\/node-rpc\/src\/upstream\/http\.ts$/,
  // Ends Anvil with the process that started it, whatever ends that one.
  /^infra\/local\/src\/anvil\/anvil\.ts$/,
];

/** Who may ask for the date, each with its reason. Durations are measured by `clock.elapsed()`. */
export const DATE_FILES: Readonly<Record<string, string>> = {
  'packages/runtime/src/time/clock.ts': 'is the clock',
  'packages/nft/src/run-job.ts': 'stores when a token was refreshed',
  'packages/feed/src/create-feed.ts':
    'a cursor says when it was written: what it may have to undo is kept for 400 days',
  'packages/delivery/src/outbox/post-message.ts': 'messages are signed with a date',
  'packages/delivery/src/webhooks/send.ts': 'deliveries have a date',
  'packages/delivery/src/notifications/notify-channel.ts': 'quiet hours are those of the calendar',
  'packages/lake/src/writer/sweep.ts': "compares with the object store's dates",
  'packages/report/src/observe.ts': 'gauges of points in time',
  'packages/pipeline/src/ingest/follow.ts': 'compares with the stored date of the last note of a head',
  'packages/pipeline/src/plan/plan.ts': 'ranges are fetched at hours of the calendar',
  'packages/audit/src/audit/scheduled-audit.ts': 'stores when a run ended',
  'packages/audit/src/audit/orphans.ts': "compares with the object store's dates",
  'packages/operations/src/lake/lake.ts': 'history is written at hours of the calendar',
  'packages/lake/src/writer/lake-writer.ts': 'history is written at hours of the calendar',
  'packages/operations/src/operation/fields.ts': 'deadlines and ends of keys are dates',
  'packages/queue/src/bull.ts': 'BullMQ takes the date of a delayed job',
  'packages/object-store/src/create-disk-store.ts': 'compares with the dates of files',
  'packages/object-store/src/presign-s3.ts': 'presigned addresses end at a date',
  'packages/node-rpc/src/calls/client.ts': 'Retry-After may be a date',
  'packages/node-rpc/src/calls/batch-upstream.ts': 'Retry-After may be a date',
  'packages/node-rpc/src/forward/send/forward-upstream.ts': 'Retry-After may be a date',
  'packages/node-rpc/src/spending/create-spending.ts': 'requests are counted by the day',
  'apps/console/web/src/lib/clock.ts': 'is the clock of the pages',
  'apps/console/src/access/identify.ts': 'keys end at a date',
  'apps/console/src/access/oidc-routes.ts': 'a cookie ends at a date, at any console',
  'apps/gateway/src/access/quotas.ts': 'days and months are of the calendar',
  'apps/gateway/src/access/key-log.ts': 'requests are logged with a date, until a date',
  'apps/gateway/src/access/admission.ts': 'keys end at a date',
  'apps/gateway/src/access/usage-counts.ts': 'usage is counted by the day',
  'apps/gateway/src/filters/deliveries.ts': 'gateways compare the ends of deliveries with each other',
  'apps/gateway/src/plain-http/plain-messages.ts': 'answers have a Date',
  'apps/gateway/src/routes/nft.ts': 'compares with the stored dates of refreshes',
  'apps/gateway/src/routes/usage.ts': 'usage is counted by the day',
  'apps/cli/src/local/once.ts': 'compares with the stored dates of next tries',
  'apps/cli/src/commands/backfill/terms.ts': 'deadlines are dates',
  'apps/cli/src/commands/audit/audit.ts': 'the day is the default seed of a sample',
  'apps/cli/src/commands/quarantine.ts': 'shows the time until a stored date',
};

/** Lines that a source file, and a test, may have. */
export const MAX_LINES = 400;
export const MAX_TEST_LINES = 500;

/** Longer files, each with its reason. */
export const LONG_FILES: Readonly<Record<string, string>> = {};

/** Lines that a function of the product may have, and how many functions may be long. */
export const FUNCTION_LINES = {
  max: 150,
  long: 100,
  maxLong: 4,
  /** Files, by name, with a function over that: they are to be cut. */
  excused: [],
};

/** Words that all documents together may have, as `wc -w` counts them. */
export const MAX_DOCUMENT_WORDS = 50_000;

/** Source files that a folder of the product may have, tests aside. */
export const MAX_FOLDER_FILES = 20;

/** A file of fewer lines belongs into its importer if it has only one. */
export const MIN_LINES = 15;

/** Shorter files that stay, each with its reason. */
export const SHORT_FILES: Readonly<Record<string, string>> = {
  'packages/kernels/src/bytes/json.ts': 'npm run kernel writes it',
  'packages/kernels/src/bytes/deflate.ts': 'npm run kernel writes it',
  'packages/kernels/src/bytes/records.ts': 'npm run kernel writes it',
  'packages/kernels/src/bytes/scan.ts': 'npm run kernel writes it',
};

/** Exports that no import names because a tool calls them, or JavaScript what was compiled. */
export const USED_BY_TOOLS: Readonly<Record<string, readonly string[]>> = {
  'packages/kernels/kernel/deflate/deflate.ts': ['reserve', 'output', 'deflate', 'items', 'itemsAt'],
  'packages/kernels/kernel/json/json.ts': ['STATE', 'STACK', 'PIECE', 'scan'],
  'packages/kernels/kernel/records/records.ts': [
    'MEMBERS',
    'SHAPES',
    'begin',
    'learn',
    'read',
    'readOne',
    'rows',
    'stopped',
    'numbersOf',
    'newsAt',
    'newsLength',
    'forgetNews',
    'addNews',
    'COLUMNS',
  ],
  'packages/kernels/kernel/scan/scan.ts': [
    'reserve',
    'region',
    'outline',
    'block',
    'result',
    'factsAt',
    'transactions',
    'receipts',
    'traces',
    // Tests of its parts.
    'addToBloom',
    'BLOOM',
    'openBloom',
    'orBloom',
    'keccak',
    'unhex',
    'trieRoot',
    'beginItem',
    'beginList',
    'endItem',
    'endList',
    'itemCount',
    'itemEnd',
    'itemStart',
    'openRlp',
    'putData',
    'putEmpty',
    'putListHead',
    'putQuantity',
    'rlpListLength',
  ],
  'infra/local/src/test-services.ts': ['setup', 'teardown'],
};

/** Rooms whose index is used by programs elsewhere. */
export const FOR_STRANGERS: readonly string[] = ['client', 'rows'];

/** Names that are exported for tests alone, by room. */
export const FOR_TESTS_ONLY: Readonly<Record<string, readonly string[]>> = {
  audit: ['publishedTimes'],
  bundle: ['distinctDigests', 'filterItem', 'mayHold', 'toDigests'],
  chain: ['keyLength', 'NOISE', 'toTrieKey', 'OBJECTS', 'ORDERS', 'TRACE_ERROR_WORDINGS'],
  cli: ['createProgram'],
  console: ['ALARM_CURES', 'ENDED', 'pan', 'WAITS'],
  database: ['refuseOld', 'selectFiles', 'selectTouching'],
  gateway: ['Gateway'],
  kernels: ['FORMS', 'openScanKernel', 'ScanKernel'],
  lake: ['createLakeWriter', 'lakeFileKey'],
  manifest: ['entryText'],
  networks: ['METHODS_OF_FAMILY', 'WALLET_METHODS'],
  'node-rpc': ['createEncodingChoice', 'StreamedAnswer'],
  'object-store': ['createDiskStore'],
  packer: ['checkSchedules'],
  pipeline: ['createNoticeSender', 'packJobId'],
  runtime: ['openTracing'],
};
