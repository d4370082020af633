import type { KeyRow } from '@packhouse/database';
import { PackhouseError } from '@packhouse/runtime';
import type { Command } from 'commander';
import { withDatabase } from '../installation/connect.js';
import { type CliIo, print, table } from '../terminal/io.js';
import { parseNetworkName } from '../terminal/parse.js';
import { findKey } from './find-key.js';
import { parseRestrictions } from './key-restrictions.js';
import { addKeyUsageCommand } from './key-usage.js';

interface CreateOptions {
  application: string;
  plan: string;
  network?: string;
  expires?: string;
  origin?: string[];
  address?: string[];
  method?: string[];
  json?: boolean;
  dataDir?: string;
}

/** `packhouse keys create|list|usage|revoke`. */
export function addKeysCommand(program: Command, io: CliIo): void {
  const keys = program
    .command('keys')
    .description('make, list and revoke API keys, and see what they used')
    .addHelpText('after', '\nExample:\n  $ packhouse keys create --application analytics');

  keys
    .command('create')
    .description('make a key; it is shown only this once')
    .requiredOption(
      '--application <name>',
      'who it is for; an application of that name is made if there is none',
    )
    .option('--plan <name>', 'its limits: a name of `packhouse plans list`', 'standard')
    .option('--network <id>', 'the only network it opens; without it: all')
    .option('--expires <date>', 'when it ends, e.g. 2027-01-31')
    .option('--origin <origin...>', 'the only browser origins it works from, e.g. https://app.example.com')
    .option('--address <cidr...>', 'the only client addresses it works from, e.g. 203.0.113.0/24')
    .option('--method <name...>', 'the only methods it is for; also bundle-api, download, nft, usage')
    .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExample:\n  $ packhouse keys create --application analytics --plan standard\n  $ packhouse keys create --application shop --network ethereum --origin https://*.example.com --method eth_call eth_getLogs',
    )
    .action(async (options: CreateOptions) => {
      const expiresAt = parseExpiry(options.expires);
      const application = parseApplication(options.application);
      const network = options.network === undefined ? null : parseNetworkName(options.network);
      const only = parseRestrictions(options);
      const { key, row } = await withDatabase(io, options, (database) =>
        database.keys.create({
          application,
          network,
          plan: options.plan,
          expiresAt,
          ...only,
        }),
      );
      if (options.json) await print(io, { apiKey: key, ...publicRow(row) });
      else
        await print(
          io,
          `${key}\nIt is shown only this once: only its hash is kept. Plan ${row.plan.name}, application ${row.application}.${onlyOf(row, ' Only ')}`,
        );
    });

  keys
    .command('list')
    .description('list keys by their public prefix')
    .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
    .option('--json', 'print one JSON object a line')
    .addHelpText('after', '\nExample:\n  $ packhouse keys list')
    .action(async (options: { json?: boolean; dataDir?: string }) => {
      const rows = await withDatabase(io, options, (database) => database.keys.list());
      if (options.json) for (const row of rows) await print(io, publicRow(row));
      else {
        const lines = rows.map((row) => [
          row.prefix,
          row.application,
          row.network ?? 'all',
          row.plan.name,
          stateOf(row),
          onlyOf(row, '') || '-',
        ]);
        await print(io, table([['PREFIX', 'APPLICATION', 'NETWORK', 'PLAN', 'STATE', 'ONLY'], ...lines]));
      }
    });

  addKeyUsageCommand(keys, io);

  keys
    .command('revoke')
    .description('end a key: every gateway refuses it within a second')
    .argument('<key>', 'its public prefix (ph_ and 8 characters), its number, or the whole key')
    .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  $ packhouse keys revoke ph_3kTq9ZbX')
    .action(async (name: string, options: { json?: boolean; dataDir?: string }) => {
      const row = await withDatabase(io, options, async (database) => {
        const { prefix } = await findKey(database, name);
        return (await database.keys.revoke(prefix)) as KeyRow;
      });
      await print(io, options.json ? publicRow(row) : `Key ${row.prefix} of ${row.application} is revoked.`);
    });
}

function parseApplication(text: string): string {
  const name = text.trim();
  if (/^[\p{L}\p{N}\p{P}\p{S} ]{1,100}$/u.test(name)) return name;
  throw new PackhouseError({
    code: 'USAGE',
    message: `--application takes a name of 1 to 100 printable characters, got ${JSON.stringify(text.slice(0, 100))}.`,
    hint: 'For example --application analytics.',
  });
}

function parseExpiry(text: string | undefined): Date | null {
  if (text === undefined) return null;
  const date = new Date(text);
  if (!Number.isNaN(date.getTime()) && date.getTime() > Date.now()) return date;
  throw new PackhouseError({
    code: 'USAGE',
    message: `--expires takes a date in the future, got "${text}".`,
    hint: 'For example --expires 2027-01-31.',
  });
}

/** The restrictions of a key in words; empty if there are none. */
function onlyOf({ origins, addresses, methods }: KeyRow, before: string): string {
  const parts = [
    ...origins.map((origin) => `origin ${origin}`),
    ...addresses.map((address) => `address ${address}`),
    ...methods.map((method) => `method ${method}`),
  ];
  return parts.length === 0 ? '' : `${before}${parts.join(', ')}`;
}

function stateOf({ revokedAt, expiresAt }: KeyRow): string {
  if (revokedAt !== null) return `revoked ${revokedAt.toISOString()}`;
  if (expiresAt === null) return 'active';
  return `${expiresAt.getTime() > Date.now() ? 'active until' : 'expired'} ${expiresAt.toISOString()}`;
}

function publicRow({
  id,
  prefix,
  application,
  network,
  plan,
  createdAt,
  expiresAt,
  revokedAt,
  origins,
  addresses,
  methods,
}: KeyRow): object {
  const only = { origins, addresses, methods };
  return { id, prefix, application, network, plan: plan.name, createdAt, expiresAt, revokedAt, ...only };
}
