import { parseArgs } from 'node:util';
import { renderReport } from './render-report.js';
import { runKillTest } from './run-kill-test.js';

const HELP = `Kills random processes of a \`packhouse local\` under load with kill -9, lets it finish and checks everything.

  npm run kill-test [-- options]

  --kills N   how many kills (default 100)
  --seed N    which ones, and when (default 1)
  --blocks N  blocks of the range (default 60 a kill)
  --json      the report as one JSON object on stdout

Exit code 0: nothing was lost, doubled or left over; 1: what was is listed.

Example: npm run kill-test -- --kills 20 --seed 7
`;

const say = (line: string): void => void process.stderr.write(`${line}\n`);

function usage(message: string): never {
  say(`${message}\nRun with --help for what there is.`);
  process.exit(64);
}

function wholeNumber(text: string, name: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value > 0 && Number.isSafeInteger(value)) return value;
  return usage(`--${name} takes a whole number above 0, got "${text}".`);
}

function read(): { kills: number; seed: number; blocks?: number; json: boolean } {
  try {
    const { values } = parseArgs({
      options: {
        kills: { type: 'string', default: '100' },
        seed: { type: 'string', default: '1' },
        blocks: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (values.help) {
      process.stdout.write(HELP);
      process.exit(0);
    }
    return {
      kills: wholeNumber(values.kills, 'kills'),
      seed: wholeNumber(values.seed, 'seed'),
      ...(values.blocks === undefined ? {} : { blocks: wholeNumber(values.blocks, 'blocks') }),
      json: values.json,
    };
  } catch (error) {
    return usage((error as Error).message);
  }
}

const { json, ...options } = read();
if (process.platform !== 'linux') usage('The kill test finds the processes in /proc, which only Linux has.');
try {
  const report = await runKillTest({ ...options, say });
  process.stdout.write(json ? `${JSON.stringify(report)}\n` : renderReport(report));
  process.exit(report.violations.length === 0 ? 0 : 1);
} catch (error) {
  say(`The kill test could not go on: ${(error as Error).stack}`);
  process.exit(70);
}
