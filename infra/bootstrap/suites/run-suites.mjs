// Runs a list of suites one after the other, and adds up what they counted.
import { root, runChild } from '../prepare.mjs';
import { addRun, runTests } from './run-tests.mjs';

/** What a program ends with if it cannot run here. */
const EXIT_UNAVAILABLE = 75;

/**
 * Runs each suite and adds what it counted to `sum`. `say` tells which one begins and which failed. A suite that cannot run
 * counts as one that was skipped.
 *
 * @param {import('./suites.mjs').Suite[]} suites
 */
export async function runSuites(suites, sum, { env, say }) {
  for (const { name, args, counts, env: own, skip } of suites) {
    if (skip !== undefined) {
      sum.missing.push(`${name}: ${skip}`);
      sum.skipped += 1;
      continue;
    }
    say(`── ${name}`);
    const [program, ...options] = args;
    const before = sum.failed;
    if (counts) {
      // `runTests` itself begins with `vitest run`.
      addRun(sum, await runTests(options.slice(1), { env: { ...env, ...own } }));
    } else {
      const command = [`${root}${program}`, ...options];
      const code = await runChild(process.execPath, command, ['ignore', 2, 2], { ...env, ...own });
      if (code === EXIT_UNAVAILABLE) sum.missing.push(`${name}: the compiler cannot be had`);
      else if (code !== 0) sum.names.push(`${name}: node ${args.join(' ')}`);
      sum[code === 0 ? 'passed' : code === EXIT_UNAVAILABLE ? 'skipped' : 'failed'] += 1;
    }
    if (sum.failed > before) say(`── ${name} FAILED: node ${args.join(' ')}`);
  }
}
