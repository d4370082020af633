import { KINDS } from '@packhouse/chain';
import { type Command, Option } from 'commander';
import type { CliIo } from '../io.js';
import { local, printFailure } from '../local/local.js';
import { DEFAULT_PORT, type LocalFlags } from '../local/options.js';

/** `packhouse local`. */
export function addLocalCommand(program: Command, io: CliIo): void {
  program
    .command('local')
    .description(
      'run everything on this machine: Postgres, queue, store, gateway, ingester, packer; a demo chain without --rpc',
    )
    .addOption(
      new Option(
        '--rpc <url>',
        'a node; may be given several times; a ws:// address of a node, beside its http:// one or alone, lets it tell of new blocks by itself',
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
    .option('--data-dir <dir>', 'where everything is kept (default: .packhouse)')
    .option(
      '--port <port>',
      `the gateway's port; the next free one where it is taken (default: ${DEFAULT_PORT})`,
    )
    .option('--once', 'exit when the range is published: 0 all of it, 2 parts could not be had')
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
        printFailure(io, flags.json ?? false, error);
        throw error;
      }
    });
}
