import { KINDS, RULE_NAMES } from '@packhouse/chain';
import { z } from 'zod';

const url = (protocols: RegExp, description: string, forms = 'http://host or https://host') =>
  z.url({ protocol: protocols, error: `is no address of the form ${forms}` }).describe(description);

const oldestBlock = (of: string) =>
  z.int().min(0).optional().describe(`Number of the oldest block with ${of}; default: not declared.`);

const upstream = z.strictObject({
  name: z
    .string()
    .regex(
      /^[A-Za-z0-9._-]{1,64}$/,
      'has other characters than letters, digits, dots, dashes and underscores',
    )
    .optional()
    .describe('For logs and tables; default upstream-1, upstream-2, … in the order of the file.'),
  url: url(/^https?$/, 'Address of the JSON-RPC node; ${NAME} is filled in from the environment.'),
  provider: z
    .string()
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9._:-]{0,252}$/,
      'has other characters than letters, digits, dots, dashes, colons and underscores',
    )
    .optional()
    .describe(
      'Whose budget its requests are paid from (`packhouse budget`): one name for all upstreams of one account; default: the host name of its url.',
    ),
  ws: url(
    /^wss?$/,
    'Address of the same node for WebSocket, where it has one: it then tells of new blocks itself, and is polled less. ${NAME} is filled in from the environment.',
    'ws://host or wss://host',
  ).optional(),
  headers: z
    .record(z.string().regex(/^[A-Za-z0-9-]+$/), z.string())
    .default({})
    .describe('Extra headers of every request; ${NAME} is filled in from the environment.'),
  priority: z.int().min(1).max(100).default(1).describe('1 is preferred; higher numbers stand by.'),
  requestsPerSecond: z
    .number()
    .positive()
    .max(1_000_000)
    .optional()
    .describe(
      'Fixed ceiling of requests a second over all processes (a batch of 10 counts 10); default: only the adaptive limit.',
    ),
  maxInFlight: z.int().min(1).max(1_000).default(16).describe('Ceiling of HTTP requests in flight.'),
  propagateTrace: z
    .boolean()
    .optional()
    .describe('Send the header traceparent of a traced request, where OpenTelemetry is in use; default no.'),
  oldest: z
    .strictObject({
      state: oldestBlock('state'),
      receipts: oldestBlock('receipts'),
      logs: oldestBlock('logs'),
      transactions: oldestBlock('transactions'),
    })
    .optional()
    .describe(
      'The oldest block that the node has, of each: calls for older ones go to other nodes. Default: all, until it says that it deleted some.',
    ),
  archive: z
    .boolean()
    .optional()
    .describe(
      'The node has the state and history of all blocks: nothing is learnt from its errors; default no.',
    ),
});

const finality = z
  .strictObject({
    tag: z.boolean().default(true).describe('Ask the node for its `finalized` tag.'),
    depth: z
      .int()
      .min(0)
      .max(100_000)
      .default(64)
      .describe('Blocks behind the head that are final where there is no tag.'),
  })
  .prefault({})
  .describe('When a block can never be undone any more; only such blocks are published.');

const recomputed = (description: string) =>
  z.enum(['recompute', 'trust']).default('recompute').describe(description);

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
      .describe('Name of the rules that this chain follows; default: those of its chainId.'),
    senders: z
      .union([z.enum(['off', 'sample', 'all']), z.boolean()])
      .default('sample')
      .transform((senders) => (typeof senders === 'string' ? senders : senders ? 'all' : 'off'))
      .describe(
        'Whose senders are recovered from their signatures: sample (three of a block, at random), all (a quarter more work) or off; false is off, true is all.',
      ),
    extraFields: z
      .enum(['keep', 'drop'])
      .default('keep')
      .describe('Fields that the format of bundles does not name: kept in alphabetical order, or dropped.'),
  })
  .prefault({})
  .describe('What a block has to prove before it is staged.');

const bundles = z
  .strictObject({
    enabled: z.boolean().default(true).describe('Whether this network is downloaded at all.'),
    kinds: z
      .array(z.enum(KINDS))
      .min(1)
      .default([...KINDS])
      .describe('The kinds of data that are kept.'),
    maxBytes: z
      .int()
      .min(10_000)
      .max(100_000_000)
      .default(1_000_000)
      .describe('A bundle is cut where the next fragment would pass this many bytes of gzip.'),
    maxBlocks: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(100_000)
      .describe('A bundle is also cut at this many blocks.'),
  })
  .prefault({})
  .describe('How the bulk files are cut.');

const prefix = z.string().regex(/^[a-z]{1,16}_$/, 'is not lower-case letters and an underscore');
const methodName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, 'is no method name: letters, digits and underscores');

const rpc = (defaults: { aliases?: Record<string, string>; open?: boolean }) =>
  z
    .strictObject({
      profile: z
        .enum(['wallets', 'strict'])
        .default('wallets')
        .describe(
          'EVM family. wallets: also the reads that wallets and libraries ask first, such as eth_getBalance. strict: blocks, transactions, receipts, logs, filters, storage and eth_call only.',
        ),
      allow: z
        .array(methodName)
        .max(1_000)
        .default([])
        .describe(
          'Methods beyond those of the family, passed on as they are; eth_sendRawTransaction is checked and goes to three nodes.',
        ),
      deny: z
        .array(methodName)
        .max(1_000)
        .default([])
        .describe('Methods of the family that this network does not offer.'),
      costs: z
        .record(methodName, z.int().min(0).max(1_000_000))
        .default({})
        .describe(
          'Units that a call costs, by method: {eth_getLogs: 20}. Others cost what the table of methods in apps/gateway/README.md says.',
        ),
      aliases: z
        .record(prefix, prefix)
        .default(defaults.aliases ?? {})
        .describe('Prefix that clients use: prefix that the nodes use.'),
      integrity: z
        .enum(['off', 'full'])
        .default('off')
        .describe(
          'EVM family. full: blocks, receipts and logs are recomputed before they are passed on, and what their block contradicts is asked of another node; see docs/trust.md for its cost.',
        ),
      timeoutMs: z
        .int()
        .min(100)
        .max(600_000)
        .default(30_000)
        .describe('Milliseconds that a call may take, all questions to all upstreams together.'),
      callTimeoutMs: z
        .int()
        .min(100)
        .max(600_000)
        .default(10_000)
        .describe('Milliseconds that an eth_call may take.'),
      maxCallsInFlight: z
        .int()
        .min(1)
        .max(10_000)
        .default(64)
        .describe('eth_call of one key, or of one address without a key, in flight at most.'),
      gasCap: z
        .int()
        .min(21_000)
        .nullable()
        .default(550_000_000)
        .describe('Highest gas of an eth_call; null: none. 50000000 on a rollup.'),
      aboveGasCap: z
        .enum(['lower', 'reject'])
        .default('lower')
        .describe('What becomes of more gas: lowered to the cap, or refused.'),
      maxAnswerBytes: z
        .int()
        .min(1_000)
        .max(1_000_000_000)
        .default(67_108_864)
        .describe('Bytes of an answer at most.'),
      maxLogs: z.int().min(1).max(1_000_000).default(20_000).describe('Logs in one answer at most.'),
      logLimit: z
        .int()
        .min(1)
        .nullable()
        .default(null)
        .describe('Core family: replaces a missing or larger `limit` of a log filter; null: nothing does.'),
      httpErrors: z
        .enum(['status', 'always200'])
        .default('status')
        .describe('always200: for clients that never read the body of another status.'),
      open: z
        .boolean()
        .default(defaults.open ?? false)
        .describe('Whether it is asked without a key, with a rate limit for each address.'),
    })
    .prefault({})
    .describe('The JSON-RPC interface of this network.');

const common = {
  id: z
    .string()
    .regex(/^[a-z0-9-]{1,32}$/, 'is not 1 to 32 lower-case letters, digits and dashes')
    .describe('First segment of paths and object keys; 1 to 32 lower-case letters, digits and dashes.'),
  baseUrl: url(/^https?$/, 'Public address of the interface; default <public url>/<id>/v1/.')
    .regex(/\/v1\/$/, 'does not end in /v1/')
    .optional(),
  upstreams: z.array(upstream).min(1).describe('The nodes, at least one.'),
};

/** Networks of the EVM family. */
const evm = z.strictObject({
  ...common,
  family: z.literal('evm').describe('The family of the chain.'),
  chainId: z.int().min(1).describe('What eth_chainId has to answer.'),
  downloadUrl: url(
    /^https?$/,
    'Public address of the files, no slash at the end; default <public url>/<id>/files.',
  )
    .regex(/[^/]$/, 'ends in a slash')
    .optional(),
  finality,
  pollIntervalMs: z
    .int()
    .min(100)
    .max(60_000)
    .default(500)
    .describe('How often the head is asked for, in milliseconds, 100 to 60000.'),
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
const networkSchema = z.discriminatedUnion('family', [evm, core, cell, registry]);

/** The whole file. */
export const networksFileSchema = z.strictObject({
  $schema: z.string().optional().describe('Address of the JSON Schema, for editors; not read.'),
  networks: z.array(networkSchema).min(1).describe('The networks, at least one.'),
});
