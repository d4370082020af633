import { createKey, listKeys, type PublicKey, revokeKey } from '@packhouse/operations';
import { systemClock } from '@packhouse/runtime';
import type { Command } from 'commander';
import { operate, readAllRows } from '../../installation/operate.js';
import { addCommand, addPlacedCommand, type Place } from '../../terminal/command.js';
import { type CliIo, print, printRows, table } from '../../terminal/io.js';
import { parseNetworkName } from '../../terminal/parse.js';
import { addChangeKeyCommands } from './change-key.js';
import { describeRestrictions } from './describe-restrictions.js';
import { addKeyLogCommands } from './key-log.js';
import { keyName } from './key-name.js';
import type { TermOptions } from './term-options.js';
import { addKeyUsageCommand } from './usage.js';

interface CreateOptions extends TermOptions {
  application: string;
  plan: string;
}

/** `packhouse keys create|list|usage|set|rotate|log|requests|revoke`. */
export function addKeysCommand(program: Command, io: CliIo): void {
  const keys = addCommand(
    program,
    'keys',
    'Create, list, change, rotate and revoke API keys, and show their usage',
    'create --application analytics',
  );

  addPlacedCommand(
    keys,
    'create',
    'Create an API key; it is shown only once',
    '--application analytics --plan standard',
    '--application shop --network ethereum --origin https://*.example.com --method eth_call eth_getLogs',
  )
    .requiredOption('--application <name>', 'Application; created if it does not exist')
    .option('--plan <name>', 'Plan in `packhouse plans list`', 'standard')
    .option('--network <id>', 'Allowed network (default: all)')
    .option('--expires <date>', 'Expiry date, e.g. 2027-01-31')
    .option('--origin <origin...>', 'Allowed browser origins, e.g. https://app.example.com')
    .option('--address <cidr...>', 'Allowed client addresses, e.g. 203.0.113.0/24')
    .option('--method <name...>', 'Allowed methods; also bundle-api, download, nft, usage')
    .option('--contract <address...>', 'Contracts that calls may read; no files then')
    .option('--max-log-range <blocks>', 'Most blocks of one eth_getLogs, if less than the plan has')
    .action(async (options: CreateOptions) => {
      const row = await operate(io, options, createKey, {
        application: options.application,
        network: options.network === undefined ? null : parseNetworkName(options.network),
        plan: options.plan,
        expiresAt: options.expires,
        origins: options.origin,
        addresses: options.address,
        methods: options.method,
        contracts: options.contract,
        maxLogRange: options.maxLogRange,
      });
      const text = `${row.apiKey}\nStore it now: only its hash is kept. Plan ${row.plan}, application ${row.application}.${describeRestrictions(row, ' Only ')}`;
      await print(io, options.json ? row : text);
    });

  addPlacedCommand(keys, 'list', 'List API keys by prefix')
    .option('--search <text>', 'Only keys whose application contains this, or whose prefix begins with it')
    .option('--application <name>', 'Only keys of this application')
    .action(async (options: Place & { search?: string; application?: string }) => {
      const { search, application } = options;
      const rows = await readAllRows(io, options, listKeys, { search, application });
      const lines = rows.map((row) => [
        row.prefix,
        row.application,
        row.network ?? 'all',
        row.plan,
        toState(row),
        row.lastUsedAt === null ? '-' : `${row.lastUsedAt.toISOString().slice(0, 19)}Z`,
        describeRestrictions(row, '') || '-',
      ]);
      await printRows(io, options, rows, {
        show: () =>
          table([
            ['PREFIX', 'APPLICATION', 'NETWORK', 'PLAN', 'STATE', 'LAST USED', 'RESTRICTIONS'],
            ...lines,
          ]),
      });
    });

  addKeyUsageCommand(keys, io);
  addChangeKeyCommands(keys, io);
  addKeyLogCommands(keys, io);

  addPlacedCommand(
    keys,
    'revoke',
    'Revoke an API key; every gateway refuses it within a second',
    'ph_3kTq9ZbX',
  )
    .argument('<key>', 'Prefix (ph_ and 8 characters), number, or whole key')
    .action(async (name: string, options: Place) => {
      const row = await operate(io, options, revokeKey, { key: keyName(name) });
      await print(io, options.json ? row : `Key ${row.prefix} of ${row.application} revoked.`);
    });
}

function toState({ revokedAt, expiresAt }: PublicKey): string {
  if (revokedAt !== null) return `revoked ${revokedAt.toISOString()}`;
  if (expiresAt === null) return 'active';
  return `${expiresAt.getTime() > systemClock.now() ? 'active until' : 'expired'} ${expiresAt.toISOString()}`;
}
