import { KINDS, RULE_NAMES } from '@packhouse/chain';
import { z } from 'zod';

const url = (protocols: RegExp, description: string, forms = 'http://host or https://host') =>
  z.url({ protocol: protocols, error: `is not an address of the form ${forms}` }).describe(description);

/** A whole number with a default. */
const whole = (min: number, max: number, usual: number, description: string) =>
  z.int().min(min).max(max).default(usual).describe(description);

/** One of some words, with a default. */
const choice = <const W extends string>(words: readonly W[], usual: NoInfer<W>, description: string) =>
  z
    .enum(words)
    .default(usual as never)
    .describe(description);

const oldestBlock = (of: string) =>
  z.int().min(0).optional().describe(`Number of the oldest block with ${of}; default: not declared.`);

export const upstreamSchema = z.strictObject({
  name: z
    .string()
    .regex(
      /^[A-Za-z0-9._-]{1,64}$/,
      'has other characters than letters, digits, dots, dashes and underscores',
    )
    .optional()
    .describe('Name in logs and tables; default upstream-1, upstream-2, … in file order.'),
  url: url(/^https?$/, 'Address of the JSON-RPC node; ${NAME} is filled in from the environment.'),
  provider: z
    .string()
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9._:-]{0,252}$/,
      'has other characters than letters, digits, dots, dashes, colons and underscores',
    )
    .optional()
    .describe(
      'Budget that its requests count against (`packhouse budget`): one name for all upstreams of one account; default: the host name of its url.',
    ),
  ws: url(
    /^wss?$/,
    'WebSocket address of the same node, to be notified of new blocks and poll less. ${NAME} is filled in from the environment.',
    'ws://host or wss://host',
  ).optional(),
  headers: z
    .record(z.string().regex(/^[A-Za-z0-9-]+$/), z.string())
    .default({})
    .describe('Extra headers of every request; ${NAME} is filled in from the environment.'),
  priority: whole(1, 100, 1, '1 is preferred; higher numbers are fallbacks.'),
  requestsPerSecond: z
    .number()
    .positive()
    .max(1_000_000)
    .optional()
    .describe(
      'Maximum requests per second over all processes (a batch of 10 counts as 10); default: only the adaptive limit.',
    ),
  maxInFlight: whole(1, 1_000, 16, 'Maximum HTTP requests in flight.'),
  batchCalls: z
    .boolean()
    .optional()
    .describe(
      'Send calls of clients that come at the same moment as one JSON-RPC batch while the node answers it as fast as single calls; default: yes for http: addresses, no for https:.',
    ),
  propagateTrace: z
    .boolean()
    .optional()
    .describe('Send the traceparent header of traced requests, if OpenTelemetry is used; default no.'),
  oldest: z
    .strictObject({
      state: oldestBlock('state'),
      receipts: oldestBlock('receipts'),
      logs: oldestBlock('logs'),
      transactions: oldestBlock('transactions'),
    })
    .optional()
    .describe(
      'The oldest block that the node has, by data: calls for older blocks go to other nodes. Default: all, until it reports that it pruned some.',
    ),
  archive: z
    .boolean()
    .optional()
    .describe(
      'The node has the state and history of all blocks, so its errors are not taken for pruning; default no.',
    ),
});

const finality = z
  .strictObject({
    tag: z.boolean().default(true).describe('Use the `finalized` tag of the node.'),
    depth: whole(0, 100_000, 64, 'Blocks behind the head that are final if the tag is not used.'),
  })
  .prefault({})
  .describe('When a block is final; only final blocks are published.');

const recomputed = (description: string) => choice(['recompute', 'trust'], 'recompute', description);

const proofs = z
  .strictObject({
    header: recomputed(
      'recompute: keccak(RLP(header)) must equal the hash. trust: the headers cannot be recomputed.',
    ),
    transactions: recomputed(
      'recompute: each hash and the root must follow from the transactions. trust: they cannot be recomputed.',
    ),
    receipts: recomputed(
      'recompute: the root and the blooms must follow from the receipts. trust: they cannot be recomputed.',
    ),
    rules: z
      .enum(RULE_NAMES)
      .optional()
      .describe('Name of the rules of this chain; default: by its chainId.'),
    senders: z
      .union([z.enum(['off', 'sample', 'all']), z.boolean()])
      .default('all')
      .transform((senders) => (typeof senders === 'string' ? senders : senders ? 'all' : 'off'))
      .describe(
        'Which senders are recovered from signatures: all, sample (three random ones per block; all of a block, window or node that failed before) or off; false is off, true is all.',
      ),
    extraFields: choice(
      ['keep', 'drop'],
      'keep',
      'Fields outside the bundle format: kept in alphabetical order, or dropped.',
    ),
  })
  .prefault({})
  .describe('Proofs that a block must pass before it is staged.');

const bundles = z
  .strictObject({
    enabled: z.boolean().default(true).describe('Whether blocks of this network are downloaded.'),
    kinds: z
      .array(z.enum(KINDS))
      .min(1)
      .default([...KINDS])
      .describe('The kinds of data to keep.'),
    maxBytes: whole(
      10_000,
      100_000_000,
      1_000_000,
      'Maximum gzip size of a bundle in bytes; a single fragment may exceed it.',
    ),
    maxBlocks: whole(1, 1_000_000, 100_000, 'Maximum blocks of a bundle.'),
  })
  .prefault({})
  .describe('The bundles: files with many blocks.');

const prefix = z.string().regex(/^[a-z]{1,16}_$/, 'is not lower-case letters and an underscore');
const methodName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, 'is not a method name: letters, digits and underscores');

/** Reads whose wrong answers cost most; what the newest block changes is asked for at the newest block that enough have. */
const QUORUM_METHODS = [
  'eth_call',
  'eth_getBalance',
  'eth_getBlockByHash',
  'eth_getBlockByNumber',
  'eth_getBlockReceipts',
  'eth_getCode',
  'eth_getLogs',
  'eth_getStorageAt',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
] as const;

const rpc = (defaults: { aliases?: Record<string, string>; open?: boolean }) =>
  z
    .strictObject({
      profile: choice(
        ['wallets', 'strict'],
        'wallets',
        'EVM family. wallets: also the reads that wallets and libraries need, such as eth_getBalance. strict: blocks, transactions, receipts, logs, filters, storage and eth_call only.',
      ),
      allow: z
        .array(methodName)
        .max(1_000)
        .default([])
        .describe(
          'Additional methods, forwarded unchanged; eth_sendRawTransaction is checked and sent to three nodes.',
        ),
      deny: z.array(methodName).max(1_000).default([]).describe('Methods of the family to disable.'),
      costs: z
        .record(methodName, z.int().min(0).max(1_000_000))
        .default({})
        .describe(
          'Units that a call costs, by method: {eth_getLogs: 20}. Defaults are in the table of methods in docs/gateway.md.',
        ),
      aliases: z
        .record(prefix, prefix)
        .default(defaults.aliases ?? {})
        .describe('Method prefix of clients: method prefix of the nodes.'),
      integrity: choice(
        ['off', 'full', 'quorum'],
        'off',
        'EVM family. full: blocks, receipts and logs are proved before they are returned; an invalid answer is retried on another node. quorum: several nodes have to answer alike. See docs/trust.md for the cost.',
      ),
      quorum: z
        .strictObject({
          agree: whole(2, 16, 2, 'How many nodes have to answer alike.'),
          of: whole(2, 16, 3, 'How many nodes are asked at most until `agree` answers match.'),
          methods: z
            .array(methodName)
            .min(1)
            .default([...QUORUM_METHODS])
            .describe('The methods of which one answer is not enough.'),
        })
        .refine(({ agree, of }) => agree <= of, { error: 'has a larger `agree` than `of`' })
        .prefault({})
        .describe('With integrity: quorum.'),
      timeoutMs: whole(100, 600_000, 30_000, 'Timeout of a call in milliseconds, over all upstreams.'),
      callTimeoutMs: whole(100, 600_000, 10_000, 'Timeout of an eth_call in milliseconds.'),
      maxCallsInFlight: whole(
        1,
        10_000,
        64,
        'Maximum eth_call in flight per key, or per address without a key.',
      ),
      gasCap: z
        .int()
        .min(21_000)
        .nullable()
        .default(550_000_000)
        .describe('Maximum gas of an eth_call; null: no limit. 50000000 for a rollup.'),
      aboveGasCap: choice(
        ['lower', 'reject'],
        'lower',
        'Whether a higher gas is lowered to the cap or rejected.',
      ),
      maxAnswerBytes: whole(1_000, 1_000_000_000, 67_108_864, 'Maximum bytes of an answer.'),
      maxLogs: whole(1, 1_000_000, 20_000, 'Maximum logs in one answer.'),
      logLimit: z
        .int()
        .min(1)
        .nullable()
        .default(null)
        .describe('Core family: replaces a missing or larger `limit` of a log filter; null: no limit.'),
      httpErrors: choice(
        ['status', 'always200'],
        'status',
        'always200: send errors with status 200, for clients that read no other body.',
      ),
      open: z
        .boolean()
        .default(defaults.open ?? false)
        .describe('Whether clients need no key; each address has a rate limit.'),
    })
    .prefault({})
    .describe('The JSON-RPC interface of this network.');

const common = {
  id: z
    .string()
    .regex(/^[a-z0-9-]{1,32}$/, 'is not 1 to 32 lower-case letters, digits and dashes')
    .refine((id) => id !== 'iceberg', 'is taken: /iceberg/v1/ is the catalog of tables')
    .describe('First segment of paths and object keys; 1 to 32 lower-case letters, digits and dashes.'),
  baseUrl: url(/^https?$/, 'Public address of the interface; default <public url>/<id>/v1/.')
    .regex(/\/v1\/$/, 'does not end in /v1/')
    .optional(),
  upstreams: z.array(upstreamSchema).min(1).describe('The nodes, at least one.'),
};

/** Networks of the EVM family. */
export const evmSchema = z.strictObject({
  ...common,
  family: z.literal('evm').describe('The family of the chain.'),
  chainId: z.int().min(1).describe('Expected answer of eth_chainId.'),
  downloadUrl: url(
    /^https?$/,
    'Public address of the files, no slash at the end; default <public url>/<id>/files.',
  )
    .regex(/[^/]$/, 'ends in a slash')
    .optional(),
  finality,
  pollIntervalMs: whole(100, 60_000, 500, 'Interval of polling the head in milliseconds, 100 to 60000.'),
  proofs,
  bundles,
  rpc: rpc({}),
});

/** The core space of Conflux: epochs, base32 addresses. */
const core = z.strictObject({
  ...common,
  family: z.literal('core').describe('The family of the chain: epochs and base32 addresses.'),
  chainId: z
    .int()
    .min(1)
    .max(4_294_967_295)
    .describe('The network id in its addresses: 1029 for cfx:, 1 for cfxtest:.'),
  rpc: rpc({ aliases: { core_: 'cfx_' } }),
});

/** CKB. */
const cell = z.strictObject({
  ...common,
  family: z.literal('cell').describe('The family of the chain: cells.'),
  rpc: rpc({}),
});

/** A name registry's indexer. */
const registry = z.strictObject({
  ...common,
  family: z.literal('registry').describe('A name registry.'),
  rpc: rpc({ aliases: { registry_: 'das_' }, open: true }),
});

/** One network of the file; `family` decides its fields. */
const networkSchema = z.discriminatedUnion('family', [evmSchema, core, cell, registry]);

/** The whole file. */
export const networksFileSchema = z.strictObject({
  $schema: z.string().optional().describe('Address of the JSON Schema, for editors; not read.'),
  networks: z.array(networkSchema).min(1).describe('The networks, at least one.'),
});
