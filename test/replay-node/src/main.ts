import { parseArgs } from 'node:util';
import { describeError, isPackhouseError } from '@packhouse/runtime';
import { startFromArguments } from './start-from-arguments.js';

const HELP = `Serves recorded or generated blocks as a JSON-RPC node.

  node test/replay-node/dist/main.js --file <recording.jsonl.gz> [--from N] [--to M] [--extend LENGTH]
  node test/replay-node/dist/main.js --generate 12 [--extend LENGTH]
  node test/replay-node/dist/main.js --answers test/replay-node/recordings/core.json

  --file PATH              a recording; may be given more than once
  --generate N             N generated blocks instead
  --answers PATH           recorded answers: [{"method", "params"?, "result"}, …]; may be given more than once, and alone
  --from N  --to M         only these blocks of the recording
  --extend LENGTH          repeat them to a chain of so many blocks, all proofs kept
  --giant MEGABYTES        one more block whose trace answer has this size
  --port P                 default: any free port
  --host HOST              default 127.0.0.1
  --chain-id ID            default 1
  --head N                 the newest block; default the last
  --finalized-depth N      how far the finalized block is behind the head; default 0
  --latency MS             how long each answer waits
  --bytes-per-second N     how fast the line is
  --requests-per-second N  429 beyond this
`;

const ONE = { type: 'string' } as const;
const OPTIONS = {
  file: { type: 'string', multiple: true },
  answers: { type: 'string', multiple: true },
  generate: ONE,
  from: ONE,
  to: ONE,
  extend: ONE,
  giant: ONE,
  head: ONE,
  'finalized-depth': ONE,
  port: ONE,
  host: ONE,
  'chain-id': ONE,
  latency: ONE,
  'bytes-per-second': ONE,
  'requests-per-second': ONE,
  help: { type: 'boolean' },
} as const;

try {
  const { values } = parseArgs({ options: OPTIONS });
  const serves = values.file ?? values.generate ?? values.answers;
  if (values.help || serves === undefined) {
    process.stdout.write(HELP);
    process.exitCode = values.help ? 0 : 64;
  } else {
    const { node, blocks } = await startFromArguments(values);
    const what = blocks === undefined ? 'recorded answers' : `blocks ${blocks.first} to ${blocks.last}`;
    process.stdout.write(`${node.url} serves ${what}\n`);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void node.close());
  }
} catch (error) {
  process.stderr.write(`${describeError(error)}\n`);
  process.exitCode = isPackhouseError(error) ? error.exitCode : 64;
}
