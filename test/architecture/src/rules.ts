/** The pure rooms, the ports, and what may be told from the whole. */
const PURE = ['runtime', 'chain', 'bundle', 'manifest', 'networks'];
const PORTS = ['node-rpc', 'database', 'object-store', 'queue'];
const ALL_BUT_APPS = [
  ...PURE,
  'client',
  ...PORTS,
  'pipeline',
  'operations',
  'local',
  'replay-node',
  'scripted-s3',
];

/** Which workspaces each one may import, by their short names. Whoever is not named here may import nobody. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  runtime: [],
  chain: ['runtime'],
  bundle: ['runtime', 'chain'],
  manifest: ['runtime', 'chain', 'bundle'],
  client: ['runtime', 'chain', 'bundle', 'manifest'],
  networks: ['runtime', 'chain'],
  'node-rpc': PURE,
  database: ['runtime', 'chain', 'bundle', 'manifest'],
  'object-store': PURE,
  queue: PURE,
  pipeline: [...PURE, ...PORTS],
  operations: [...PURE, ...PORTS, 'pipeline'],
  nft: ['runtime', 'chain', 'networks', 'node-rpc', 'database'],
  gateway: [...PURE, ...PORTS, 'pipeline', 'nft'],
  ingester: [...PURE, ...PORTS, 'pipeline'],
  packer: [...PURE, ...PORTS, 'pipeline'],
  console: [...PURE, ...PORTS, 'pipeline', 'operations'],
  cli: [...PURE, 'client', ...PORTS, 'pipeline', 'operations', 'local'],
  local: ['runtime'],
  'replay-node': PURE,
  'scripted-s3': [],
  e2e: ALL_BUT_APPS,
  clients: ALL_BUT_APPS,
  'browser-tests': ALL_BUT_APPS,
  attack: ALL_BUT_APPS,
  bench: ALL_BUT_APPS,
  'kill-test': ALL_BUT_APPS,
  simulation: ALL_BUT_APPS,
  architecture: [],
};

/** Tests may use the services and what stands in for others beside what their room may import. */
export const TESTS_MAY_IMPORT: readonly string[] = ['local', 'replay-node', 'scripted-s3'];

/** Exceptions by file, each with its reason. */
export const FILE_MAY_IMPORT: Readonly<Record<string, { names: readonly string[]; reason: string }>> = {
  'infra/local/src/test-services.ts': {
    names: ['database'],
    reason: 'migrates the template that tests copy',
  },
  'infra/local/src/fresh-database.ts': { names: ['database'], reason: 'copies the template for one test' },
};

/** Processes that may be started by name though they are never imported: `import.meta.resolve('@packhouse/x/main')`. */
export const STARTS: Readonly<Record<string, readonly string[]>> = {
  cli: ['gateway', 'ingester', 'packer', 'console'],
};

/** Who may read the environment, listen to signals or exit. */
export const PROCESS_FILES: readonly RegExp[] = [
  /^apps\/[^/]+\/src\/main\.ts$/,
  /^test\/[^/]+\/src\/main\.ts$/,
  // Test code whole: it starts processes and hands them their environment.
  /^test\/(attack|browser|e2e|bench|clients|kill|simulation)\/src\//,
  /^infra\/local\/src\/test-services\.ts$/,
  // Ends Anvil with the process that started it, whatever ends that one.
  /^infra\/local\/src\/anvil\/anvil\.ts$/,
];

/** Who may ask for the date, each with its reason. Durations are measured by `clock.elapsed()`. */
export const DATE_FILES: Readonly<Record<string, string>> = {
  'packages/runtime/src/clock.ts': 'is the clock',
  'packages/nft/src/run-job.ts': 'stores when a token was refreshed',
  'packages/pipeline/src/report/observe.ts': 'gauges of points in time',
  'packages/pipeline/src/ingest/follow.ts': 'compares with the stored date of the last note of a head',
  'packages/pipeline/src/ingest/plan.ts': 'ranges are fetched at hours of the calendar',
  'packages/pipeline/src/audit/scheduled-audit.ts': 'stores when a run ended',
  'packages/pipeline/src/audit/orphans.ts': "compares with the object store's dates",
  'packages/operations/src/backfills.ts': 'deadlines are dates',
  'packages/operations/src/key-usage.ts': 'usage is counted by the day',
  'packages/operations/src/keys.ts': 'keys end at a date',
  'packages/queue/src/bull.ts': 'BullMQ takes the date of a delayed job',
  'packages/object-store/src/create-disk-store.ts': 'compares with the dates of files',
  'packages/node-rpc/src/calls/client.ts': 'Retry-After may be a date',
  'packages/node-rpc/src/calls/node.ts': 'Retry-After may be a date',
  'packages/node-rpc/src/forward/forward-node.ts': 'Retry-After may be a date',
  'packages/node-rpc/src/spending/create-spending.ts': 'requests are counted by the day',
  'apps/console/src/access/sign-in-routes.ts': 'keys end at a date',
  'apps/gateway/src/access/quotas.ts': 'days and months are of the calendar',
  'apps/gateway/src/access/admission.ts': 'keys end at a date',
  'apps/gateway/src/access/usage-counts.ts': 'usage is counted by the day',
  'apps/gateway/src/filters/deliveries.ts': 'gateways compare the ends of deliveries with each other',
  'apps/gateway/src/routes/nft.ts': 'compares with the stored dates of refreshes',
  'apps/gateway/src/routes/usage.ts': 'usage is counted by the day',
  'apps/cli/src/local/once.ts': 'compares with the stored dates of next tries',
  'apps/cli/src/commands/backfill.ts': 'deadlines are dates',
  'apps/cli/src/commands/key-usage.ts': 'usage is counted by the day',
  'apps/cli/src/commands/keys.ts': 'keys end at a date',
  'apps/cli/src/commands/usage.ts': 'usage is counted by the day',
  'apps/cli/src/commands/audit.ts': 'the day is the default seed of a sample',
  'apps/cli/src/commands/quarantine.ts': 'shows the time until a stored date',
};

/** Lines that a source file, and a test, may have. */
export const MAX_LINES = 400;
export const MAX_TEST_LINES = 500;

/** Longer files, each with its reason. */
export const LONG_FILES: Readonly<Record<string, string>> = {};

/** A file of fewer lines belongs into its importer if it has only one. */
export const MIN_LINES = 15;

/** Shorter files that stay, each with its reason. */
export const SHORT_FILES: Readonly<Record<string, string>> = {};

/** Exports that no import names because a tool calls them, or JavaScript what was compiled. */
export const USED_BY_TOOLS: Readonly<Record<string, readonly string[]>> = {
  'packages/bundle/kernel/deflate.ts': ['reserve', 'output', 'deflate', 'items', 'itemsAt'],
  'packages/chain/kernel/scan.ts': [
    ...['reserve', 'region', 'outline', 'block', 'result', 'factsAt', 'transactions', 'receipts', 'traces'],
    // Tests of its parts.
    ...['addToBloom', 'BLOOM', 'openBloom', 'orBloom', 'keccak', 'unhex', 'trieRoot'],
    ...['beginItem', 'beginList', 'endItem', 'endList', 'itemCount', 'itemEnd', 'itemStart', 'openRlp'],
    ...['putData', 'putEmpty', 'putListHead', 'putQuantity', 'rlpListLength'],
  ],
  'infra/local/src/test-services.ts': ['setup', 'teardown'],
};

/** Rooms whose index is used by programs elsewhere. */
export const FOR_STRANGERS: readonly string[] = ['client'];

/** Names that are exported for tests alone, by room. */
export const FOR_TESTS_ONLY: Readonly<Record<string, readonly string[]>> = {
  bundle: ['buildSkipFilter'],
  chain: ['keyLength', 'keyOf', 'OBJECTS', 'ORDERS', 'RULE_SETS', 'TABLES_END'],
  cli: ['createProgram'],
  client: ['loadDuckDb'],
  database: ['selectFiles', 'selectTouching'],
  gateway: ['Gateway'],
  manifest: ['entryText'],
  networks: ['METHODS_OF_FAMILY', 'WALLET_METHODS'],
  'node-rpc': ['BlockSourceOptions', 'StreamedAnswer'],
  'object-store': ['createDiskStore'],
  packer: ['look'],
  runtime: ['openTracing'],
};
