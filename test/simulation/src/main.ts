import { createCommandLine, redisInstalled } from '@packhouse/local';
import { renderResult } from './run/render.js';
import { simulate } from './run/simulate.js';
import { describeAction } from './schedule/describe-action.js';
import { makeSchedule } from './schedule/make-schedule.js';

const HELP = `Runs the whole system under faults that a seed decides, lets it heal, and checks the nine invariants.

  npm run simulate -- --seed N --steps M [--queue postgres|redis] [--json] [--keep]

  --seed N      decides every action and fault of the schedule (default 1)
  --steps M     how many there are (default 60)
  --queue Q     where the queues live (default postgres; redis needs a redis-server)
  --schedule    prints the schedule and runs nothing
  --keep        keeps the work folder also where nothing was violated
  --json        the result as JSON on stdout

Exit code 1: an invariant was violated; the work folder with all logs is kept.
Example: npm run simulate -- --seed 7 --steps 40 --queue redis
`;

const { say, usage, read } = createCommandLine(process, HELP);

function wholeNumber(text: string, name: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  return usage(`--${name} takes a whole number, got "${text}".`);
}

const { values } = read({
  options: {
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: '60' },
    queue: { type: 'string', default: 'postgres' },
    schedule: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const seed = wholeNumber(values.seed, 'seed');
const steps = wholeNumber(values.steps, 'steps');
const { queue } = values;
if (queue !== 'postgres' && queue !== 'redis')
  throw usage(`--queue takes postgres or redis, got "${queue}".`);
if (values.schedule) {
  for (const [at, { action, thenMs }] of makeSchedule(seed, steps).entries())
    process.stdout.write(`${at + 1}\t${describeAction(action)}\tthen ${thenMs} ms\n`);
  process.exit(0);
}
if (queue === 'redis' && !redisInstalled()) usage('--queue redis needs a redis-server on PATH.');
const stop = new AbortController();
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => {
    stop.abort();
    process.exitCode = code;
  });
const result = await simulate({ seed, steps, queue, keep: values.keep, say, signal: stop.signal }).catch(
  (error: Error) => {
    if (stop.signal.aborted) process.exit();
    throw error;
  },
);
process.stdout.write(values.json ? `${JSON.stringify(result)}\n` : `${renderResult(result)}\n`);
process.exit(result.violated ? 1 : 0);
