import { createKey, listKeys, type PublicKey, revokeKey } from '@packhouse/operations';
import { PackhouseError } from '@packhouse/runtime';
import type { Command } from 'commander';
import { operate } from '../installation/operate.js';
import { type CliIo, print, table } from '../terminal/io.js';
import { parseNetworkName } from '../terminal/parse.js';
import { withPlace } from '../terminal/place.js';
import { keyName } from './key-name.js';

import { addKeyUsageCommand } from './key-usage.js';

interface ListOptions {
  search?: string;
  server?: string;
  json?: boolean;
  dataDir?: string;
}

/** Keys that are read at a time. */
const PAGE = 10_000;

interface CreateOptions {
  server?: string;
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

  withPlace(keys.command('create'))
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
    .addHelpText(
      'after',
      '\nExample:\n  $ packhouse keys create --application analytics --plan standard\n  $ packhouse keys create --application shop --network ethereum --origin https://*.example.com --method eth_call eth_getLogs',
    )
    .action(async (options: CreateOptions) => {
      const row = await operate(io, options, createKey, {
        application: parseApplication(options.application),
        network: options.network === undefined ? null : parseNetworkName(options.network),
        plan: options.plan,
        expiresAt: parseExpiry(options.expires),
        ...{ origins: options.origin, addresses: options.address, methods: options.method },
      });
      if (options.json) await print(io, row);
      else
        await print(
          io,
          `${row.apiKey}\nIt is shown only this once: only its hash is kept. Plan ${row.plan}, application ${row.application}.${onlyOf(row, ' Only ')}`,
        );
    });

  withPlace(keys.command('list'))
    .description('list keys by their public prefix')
    .addHelpText('after', '\nExample:\n  $ packhouse keys list')
    .option('--search <text>', 'only where the application contains it, or the prefix begins with it')
    .action(async (options: ListOptions) => {
      const rows: PublicKey[] = [];
      for (let more = true; more; ) {
        const page = await operate(io, options, listKeys, {
          ...{ search: options.search, after: rows.at(-1)?.id, limit: PAGE },
        });
        rows.push(...page.rows);
        more = page.more;
      }
      if (options.json) for (const row of rows) await print(io, row);
      else {
        const lines = rows.map((row) => [
          row.prefix,
          row.application,
          row.network ?? 'all',
          row.plan,
          stateOf(row),
          onlyOf(row, '') || '-',
        ]);
        await print(io, table([['PREFIX', 'APPLICATION', 'NETWORK', 'PLAN', 'STATE', 'ONLY'], ...lines]));
      }
    });

  addKeyUsageCommand(keys, io);

  withPlace(keys.command('revoke'))
    .description('end a key: every gateway refuses it within a second')
    .argument('<key>', 'its public prefix (ph_ and 8 characters), its number, or the whole key')
    .addHelpText('after', '\nExample:\n  $ packhouse keys revoke ph_3kTq9ZbX')
    .action(async (name: string, options: ListOptions) => {
      const row = await operate(io, options, revokeKey, { key: keyName(name) });
      await print(io, options.json ? row : `Key ${row.prefix} of ${row.application} is revoked.`);
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

function parseExpiry(text: string | undefined): string | null {
  if (text === undefined) return null;
  const date = new Date(text);
  if (!Number.isNaN(date.getTime()) && date.getTime() > Date.now()) return date.toISOString();
  throw new PackhouseError({
    code: 'USAGE',
    message: `--expires takes a date in the future, got "${text}".`,
    hint: 'For example --expires 2027-01-31.',
  });
}

/** The restrictions of a key in words; empty if there are none. */
function onlyOf({ origins, addresses, methods }: PublicKey, before: string): string {
  const parts = [
    ...origins.map((origin) => `origin ${origin}`),
    ...addresses.map((address) => `address ${address}`),
    ...methods.map((method) => `method ${method}`),
  ];
  return parts.length === 0 ? '' : `${before}${parts.join(', ')}`;
}

function stateOf({ revokedAt, expiresAt }: PublicKey): string {
  if (revokedAt !== null) return `revoked ${revokedAt.toISOString()}`;
  if (expiresAt === null) return 'active';
  return `${expiresAt.getTime() > Date.now() ? 'active until' : 'expired'} ${expiresAt.toISOString()}`;
}
