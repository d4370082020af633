import { KINDS } from '@packhouse/chain';
import { describeError, PackhouseError } from '@packhouse/runtime';
import { type Command, Option } from 'commander';
import { local } from '../local/local.js';
import { DEFAULT_PORT, type LocalFlags } from '../local/options.js';
import { type CliIo, print } from '../terminal/io.js';

/** `packhouse local`. */
export function addLocalCommand(program: Command, io: CliIo): void {
  program
    .command('local')
    .description(
      'run everything on this machine: Postgres, queue, store, gateway, ingester, packer, console; a demo chain without --rpc',
    )
    .addOption(
      new Option(
        '--rpc <url>',
        'a node; may be given several times; with its ws:// address, beside the http:// one or alone, it announces new blocks by itself',
      )
        .argParser((url: string, urls: string[]) => [...urls, url])
        .default([]),
    )
    .option('--from <block>', 'the first block (default: 0)')
    .option(
      '--to <block>',
      'the last block, or `finalized`: the newest final one now; without it the head is followed',
    )
    .option('--kinds <list>', `all (the default), or some of ${KINDS.join(',')}`)
    .option('--network <name>', 'the name in addresses and object keys (default: after the chain)')
    .option('--data-dir <dir>', 'the folder of all data (default: .packhouse)')
    .option(
      '--port <port>',
      `the gateway's port; the next free one if it is taken (default: ${DEFAULT_PORT})`,
    )
    .option('--once', 'exit when the range is published: 0 all of it, 2 parts are missing')
    .option('--json', 'print one JSON object a line and nothing else')
    .addHelpText(
      'after',
      '\nExamples:\n  $ packhouse local\n  $ packhouse local --rpc http://localhost:8545 --from 17000000 --to 17000999 --once',
    )
    .action(async (flags: LocalFlags) => {
      try {
        await local(io, flags);
      } catch (error) {
        if (io.signal.aborted) return;
        const code = error instanceof PackhouseError ? error.code : 'INTERNAL';
        if (flags.json) await print(io, { event: 'error', code, message: describeError(error) });
        throw error;
      }
    });
}
