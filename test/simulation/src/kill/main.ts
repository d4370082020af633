import { createCommandLine } from '@packhouse/local';
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

const { say, usage, read, wholeNumber } = createCommandLine(process, HELP);
const { kills, seed, blocks, json } = read({
  options: {
    kills: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    blocks: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  },
}).values;
const options = {
  kills: wholeNumber(kills, 'kills'),
  seed: wholeNumber(seed, 'seed'),
  blocks: blocks === undefined ? undefined : wholeNumber(blocks, 'blocks'),
};
if (process.platform !== 'linux') usage('The kill test finds the processes in /proc, which only Linux has.');
try {
  const report = await runKillTest({ ...options, say });
  process.stdout.write(json ? `${JSON.stringify(report)}\n` : renderReport(report));
  process.exit(report.violations.length === 0 ? 0 : 1);
} catch (error) {
  say(`The kill test could not go on: ${(error as Error).stack}`);
  process.exit(70);
}
