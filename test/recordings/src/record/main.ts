import { fileURLToPath } from 'node:url';
import { createCommandLine } from '@packhouse/local';
import { describeError, isPackhouseError, redact } from '@packhouse/runtime';
import { readList } from './list.js';
import { makeList } from './make-list.js';
import { openNode } from './node.js';
import { describeChains, record } from './record.js';

const HELP = `Records the blocks that tests run on from a node, each proved by its hash, and writes them into a folder.

  npm run record -- --rpc URL [--out FOLDER] [--list FILE]
  npm run record -- --list-of FOLDER

  --rpc URL         JSON-RPC address of an archive node, over HTTP; traces need trace_block
  --out FOLDER      where the files are written (default: the folder that the variable RECORDINGS names); blocks
                    that are there and right are kept, those of other chains are not touched
  --list FILE       the blocks (default: test/recordings/list.json)
  --list-of FOLDER  prints the list of a folder of recordings and records nothing

Only blocks of the node's chain are recorded: run it once for each chain. A run that was stopped goes on.

Exit code 1: some blocks were refused or missing, each with a line that says why. 64: an option or the list is wrong.
69: the node cannot be used. 73: the folder cannot be written.
Example: npm run record -- --rpc http://127.0.0.1:8545 --out ../recordings
`;

const LIST = fileURLToPath(new URL('../../list.json', import.meta.url));

const { read, say, usage } = createCommandLine(process, HELP);
const { values } = read({
  options: {
    rpc: { type: 'string' },
    out: { type: 'string', default: process.env.RECORDINGS ?? '' },
    list: { type: 'string', default: LIST },
    'list-of': { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const stop = new AbortController();
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, () => {
    process.exitCode = code;
    stop.abort(new Error(`stopped by ${signal}`));
  });
}

try {
  if (values['list-of'] !== undefined) await printList(values['list-of']);
  else await run(values.rpc ?? usage('Which node is asked: --rpc URL is missing.'));
} catch (error) {
  if (stop.signal.aborted) say('Stopped: what was recorded is kept, and the same command goes on.');
  else if (isPackhouseError(error)) {
    say(describeError(error));
    process.exitCode = error.exitCode;
  } else throw error;
}

async function printList(folder: string): Promise<void> {
  process.stdout.write(`${JSON.stringify(await makeList(folder), null, 2)}\n`);
}

async function run(url: string): Promise<void> {
  const protocol = URL.canParse(url) ? new URL(url).protocol : '';
  if (protocol !== 'http:' && protocol !== 'https:')
    usage(`--rpc takes an address of HTTP such as http://127.0.0.1:8545, got "${redact(url)}".`);
  if (values.out === '')
    usage('Where the files are written: --out FOLDER is missing, and RECORDINGS is not set.');
  const list = await readList(values.list);
  const node = openNode({ url, signal: stop.signal });
  try {
    const result = await record({ list, node, folder: values.out, say, signal: stop.signal });
    const rows = list.files.flatMap((file) => file.rows);
    const others = describeChains(rows.filter(({ chainId }) => chainId !== result.chainId));
    const none = rows.filter(({ reason }) => reason !== undefined).length;
    say(`${result.recorded} blocks recorded, ${result.kept} were there, ${result.failed} left out.`);
    if (others !== '') say(`Blocks of other chains need a node of theirs: ${others}.`);
    if (none > 0) say(`${none} blocks of the list come from no node: their reasons are in the list.`);
    if (result.failed > 0) process.exitCode = 1;
  } finally {
    await node.close();
  }
}
