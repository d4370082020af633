import { KINDS } from '@packhouse/chain';
import { createHttp, gatewayAddress, readFeed } from '@packhouse/client';
import type { Command } from 'commander';
import { addCommand } from '../terminal/command.js';
import { type CliIo, print } from '../terminal/io.js';
import { parseBlockNumber, parseKinds, usageError } from '../terminal/parse.js';
import { readApiKey } from './pull/api-key.js';
import { createWaitLines } from './pull/wait-lines.js';

interface FeedOptions {
  kinds: string;
  from?: string;
  cursor?: string;
  final?: boolean;
  skipHoles?: boolean;
  apiKeyFile?: string;
}

/** `packhouse feed`. */
export function addFeedCommand(program: Command, io: CliIo): void {
  addCommand(
    program,
    'feed',
    'Print the steps of a feed as they come, one JSON object a line; downloads no files',
    'https://data.example.com/ethereum --kinds logs --from 17M',
  )
    .argument('<url>', 'URL of a network at a gateway')
    .requiredOption('--kinds <kinds>', `Kinds, comma-separated: ${KINDS.join(', ')}; or all`)
    .option('--from <block>', 'First block: 17000000 or 17M (default: 0)')
    .option('--cursor <cursor>', 'Continue behind the step with this cursor')
    .option('--final', 'Only blocks that are never undone')
    .option('--skip-holes', 'Leave out missing blocks, with a step that says so, instead of waiting for them')
    .option('--api-key-file <file>', 'File with the API key (default: PACKHOUSE_API_KEY, or a prompt)')
    .option('--json', 'No effect: steps are JSON lines')
    .action(async (url: string, options: FeedOptions) => {
      const { cursor: given, final, skipHoles } = options;
      if (given !== undefined && options.from !== undefined) {
        throw usageError('--from and --cursor exclude each other.', 'Leave one of them out.');
      }
      const kinds = parseKinds(options.kinds);
      const from = options.from === undefined ? 0 : parseBlockNumber(options.from, '--from');
      const apiKey = await readApiKey(io, options.apiKeyFile);
      const address = gatewayAddress(url, apiKey);
      const lines = createWaitLines((text) => io.stderr.write(`${text}\n`));
      const http = createHttp({ apiKey, patient: true, onWait: lines.wait, onBack: lines.back });
      try {
        for (let cursor = given; ; ) {
          const steps = await readFeed(
            { address, http },
            { kinds, from, cursor, final, skipHoles },
            io.signal,
          );
          for (const step of steps) await print(io, step);
          cursor = steps.at(-1)?.cursor;
        }
      } finally {
        await http.close();
      }
    });
}
