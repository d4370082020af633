import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { closeOpenScopes, createScope } from '@packhouse/local';
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

const say = (line: string): void => void process.stderr.write(`${line}\n`);

function usage(message: string): never {
  say(`${message}\nRun with --help for what there is.`);
  process.exit(64);
}

function read(): { names: string[]; seconds: number } {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { seconds: { type: 'string', default: '8' }, help: { type: 'boolean', short: 'h' } },
    });
    if (values.help) {
      process.stdout.write(HELP);
      process.exit(0);
    }
    const unknown = positionals.find((name) => CASES[name] === undefined);
    if (unknown !== undefined)
      usage(`There is no case "${unknown}"; there are ${Object.keys(CASES).join(', ')}.`);
    const seconds = Number(values.seconds);
    if (!Number.isSafeInteger(seconds) || seconds < 1)
      usage(`--seconds takes a whole number above 0, got "${values.seconds}".`);
    const names = Object.keys(CASES).filter((name) => positionals.length === 0 || positionals.includes(name));
    return { names, seconds };
  } catch (error) {
    return usage((error as Error).message);
  }
}

const { names, seconds } = read();
if (process.platform !== 'linux')
  usage('The attacks read memory and CPU time from /proc, which only Linux has.');
let stopping = false;
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, () => {
    stopping = true;
    void closeOpenScopes().finally(() => process.exit(code));
  });
}
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
      if (stopping) await new Promise(() => undefined);
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
await mkdir('attack-results', { recursive: true });
const file = `attack-results/${new Date().toISOString().replace(/[:.]/g, '-')}.json`;
const machine = {
  cores: cpus().length,
  cpu: cpus()[0]?.model,
  memoryBytes: totalmem(),
  node: process.version,
};
await writeFile(file, `${JSON.stringify({ at: new Date(), machine, findings }, null, 2)}\n`);
process.stdout.write(`\nwritten to ${file}\n`);
if (findings.some((finding) => 'failed' in finding || !finding.held)) process.exitCode = 1;
