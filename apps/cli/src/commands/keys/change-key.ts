import { rotateKey, setKey } from '@packhouse/operations';
import type { Command } from 'commander';
import { operate } from '../../installation/operate.js';
import { addPlacedCommand, type Place } from '../../terminal/command.js';
import { type CliIo, print } from '../../terminal/io.js';
import { parseNetworkName } from '../../terminal/parse.js';
import { ANY, toList, toNull } from './any-value.js';
import { describeRestrictions } from './describe-restrictions.js';
import { keyName } from './key-name.js';
import type { TermOptions } from './term-options.js';

interface SetOptions extends TermOptions {
  plan?: string;
}

/** `packhouse keys set|rotate`. */
export function addChangeKeyCommands(keys: Command, io: CliIo): void {
  addPlacedCommand(
    keys,
    'set',
    'Change plan, network, expiry or restrictions of an API key; what is not given stays',
    'ph_3kTq9ZbX --expires 2027-01-31 --address 10.0.0.0/8 --origin any',
  )
    .argument('<key>', 'Prefix (ph_ and 8 characters), number, or whole key')
    .option('--plan <name>', 'Plan in `packhouse plans list`')
    .option('--network <id>', 'Allowed network; any: all')
    .option('--expires <date>', 'Expiry date; any: never')
    .option('--origin <origin...>', 'Allowed browser origins, all of them; any: all')
    .option('--address <cidr...>', 'Allowed client addresses, all of them; any: all')
    .option('--method <name...>', 'Allowed methods, all of them; any: all')
    .option('--contract <address...>', 'Contracts that calls may read, all of them; any: all')
    .option('--max-log-range <blocks>', 'Most blocks of one eth_getLogs; any: as the plan')
    .action(async (name: string, options: SetOptions) => {
      const { network } = options;
      const row = await operate(io, options, setKey, {
        key: keyName(name),
        plan: options.plan,
        network: network === undefined || network === ANY ? toNull(network) : parseNetworkName(network),
        expiresAt: toNull(options.expires),
        origins: toList(options.origin),
        addresses: toList(options.address),
        methods: toList(options.method),
        contracts: toList(options.contract),
        maxLogRange: toNull(options.maxLogRange),
      });
      const text = `Key ${row.prefix} changed: plan ${row.plan}.${describeRestrictions(row, ' Only ')}`;
      await print(io, options.json ? row : text);
    });

  addPlacedCommand(
    keys,
    'rotate',
    'Make a new secret, shown once; the old one works too for a while',
    'ph_3kTq9ZbX --overlap 24',
  )
    .argument('<key>', 'Prefix (ph_ and 8 characters), number, or whole key')
    .option('--overlap <hours>', 'Hours for which the old secret works too, 0 to 720', '24')
    .action(async (name: string, options: Place & { overlap: string }) => {
      const row = await operate(io, options, rotateKey, {
        key: keyName(name),
        overlapHours: options.overlap,
      });
      const { oldSecretUntil: until } = row;
      const old = until === null ? 'is refused' : `works until ${until.toISOString().slice(0, 19)}Z`;
      await print(
        io,
        options.json ? row : `${row.apiKey}\nStore it now: only its hash is kept. The old secret ${old}.`,
      );
    });
}
