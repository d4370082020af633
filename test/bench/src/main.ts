import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { benchExtractToPublished } from './extract-to-published.js';
import { benchGiantTraces } from './giant-traces.js';
import { type BenchOutcome, renderTable } from './result.js';
import { benchSlowNode } from './slow-node.js';

const BENCHMARKS: Record<string, () => Promise<BenchOutcome[]>> = {
  extract: benchExtractToPublished,
  'slow-node': benchSlowNode,
  'giant-traces': benchGiantTraces,
};

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !(name in BENCHMARKS));
if (unknown.length > 0) {
  process.stderr.write(
    `There is no benchmark "${unknown[0]}"; there are ${Object.keys(BENCHMARKS).join(', ')}.\n`,
  );
  process.exit(64);
}
const outcomes: BenchOutcome[] = [];
for (const [name, run] of Object.entries(BENCHMARKS)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  process.stderr.write(`${name} …\n`);
  outcomes.push(...(await run()));
}
process.stdout.write(`${renderTable(outcomes)}\n`);
for (const outcome of outcomes) {
  if ('note' in outcome && outcome.note !== undefined)
    process.stdout.write(`${outcome.name}: ${outcome.note}\n`);
}
await mkdir('bench-results', { recursive: true });
const file = `bench-results/${new Date().toISOString().replace(/[:.]/g, '-')}.json`;
const machine = {
  cores: cpus().length,
  cpu: cpus()[0]?.model,
  memoryBytes: totalmem(),
  node: process.version,
};
await writeFile(file, `${JSON.stringify({ at: new Date(), machine, outcomes }, null, 2)}\n`);
process.stdout.write(`written to ${file}\n`);
