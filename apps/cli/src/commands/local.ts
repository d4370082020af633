import { KINDS } from '@packhouse/chain';
import { describeError, PackhouseError } from '@packhouse/runtime';
import { type Command, Option } from 'commander';
import { local } from '../local/local.js';
import { DEFAULT_PORT, type LocalFlags } from '../local/options.js';
import { addCommand } from '../terminal/command.js';
import { type CliIo, print } from '../terminal/io.js';

/** `packhouse local`. */
export function addLocalCommand(program: Command, io: CliIo): void {
  addCommand(
    program,
    'local',
    'Run everything on this machine, with a demo chain unless --rpc or NETWORKS_FILE is given',
    '',
    '--rpc http://localhost:8545 --from 17000000 --to 17000999 --once',
  )
    .addOption(
      new Option('--rpc <url>', 'URL of a node, http:// or ws://; repeatable')
        .argParser((url: string, urls: string[]) => [...urls, url])
        .default([], 'the demo chain'),
    )
    .option('--from <block>', 'first block (default: 0)')
    .option('--to <block>', 'last block, or "finalized" (default: follow the head)')
    .option('--kinds <list>', `comma-separated kinds: ${KINDS.join(', ')} (default: all)`)
    .option(
      '--network <name>',
      'name of the network in URLs and object keys (default: named after the chain)',
    )
    .option('--data-dir <dir>', 'folder for all data (default: .packhouse)')
    .option(
      '--port <port>',
      `port of the gateway; the next free one if it is taken (default: ${DEFAULT_PORT})`,
    )
    .option(
      '--reorg-every <seconds>',
      'replace the newest 1 to 3 blocks of the demo chain this often (5 or more)',
    )
    .option('--once', 'exit once the range is published; exit code 2 if blocks are missing')
    .option('--verbose', 'also print what goes to logs/local.log')
    .option('--json', 'print one JSON object per line, and nothing else')
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
