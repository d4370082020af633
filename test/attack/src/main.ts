import { createCommandLine, createScope } from '@packhouse/local';
import { CASES } from './cases.js';
import { type Failure, type Finding, renderTable } from './ground/finding.js';
import { openPostgres } from './ground/ground.js';

const HELP = `Attacks an installation on this machine, and says which bounds it keeps.

  npm run attack [-- [options] [case …]]

Cases: ${Object.keys(CASES).join(', ')}; without a name all of them.

  --seconds N   length of each measurement (default 8)

Exit code 0: every bound is held; 1: those that are not stand in the table.

Example: npm run attack -- bodies pipes
`;

const { say, usage, read, pick, wholeNumber, endOnSignals, writeResults } = createCommandLine(process, HELP);
const { values, positionals } = read({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '8' }, help: { type: 'boolean', short: 'h' } },
});
const names = pick(positionals, Object.keys(CASES), 'case');
const seconds = wholeNumber(values.seconds, 'seconds');
if (process.platform !== 'linux')
  usage('The attacks read memory and CPU time from /proc, which only Linux has.');
const isStopping = endOnSignals();
const findings: (Finding | Failure)[] = [];
const whole = createScope();
try {
  const postgres = await openPostgres(whole);
  for (const name of names) {
    say(`${name} …`);
    const startedAt = performance.now();
    const scope = createScope();
    try {
      const options = { scope, postgresUrl: postgres.url, seconds, short: false, say };
      findings.push(...((await CASES[name]?.(options)) ?? []));
    } catch (error) {
      // Its processes were ended: so is the run.
      if (isStopping()) await new Promise(() => undefined);
      say(`${name} failed: ${(error as Error).stack}`);
      findings.push({ case: name, failed: (error as Error).message });
    } finally {
      await scope.close();
    }
    say(`  ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
  }
} finally {
  await whole.close();
}
process.stdout.write(`${renderTable(findings)}\n`);
await writeResults('attack-results', { findings });
if (findings.some((finding) => 'failed' in finding || !finding.held)) process.exitCode = 1;
