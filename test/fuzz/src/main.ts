import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createKeccak256 } from '@packhouse/chain';
import { ALL, GIVEN } from '@packhouse/recordings';
import { KINDS_OF_CASES } from './cases.js';
import { countDeclines, toRow } from './declines.js';
import { type Counts, createFuzz, describeFailure, type Failure, type Fuzz } from './fuzz.js';
import { smallSamples } from './real-samples.js';
import { madeSamples } from './samples.js';
import { getScanner } from './scanner.js';

const HELP = `Tries the scanner against the prover on blocks that are made, real and changed in all ways.

  npm run fuzz -- [--seed N] [--minutes M | --cases C | --case K | --declines]

  --seed N      decides every case (default 1); after 20,000 cases the next seed follows
  --minutes M   how long (default 1)
  --cases C     so many cases of this seed instead
  --case K      this case of this seed alone
  --declines    instead: why valid blocks that were recorded are declined, the rows of a table in docs/proofs.md

Prints how many cases of each kind both accepted, the scanner declined, and both refused.
Exit code 1: they disagree; the answers of the case are written into a folder, which is printed.
`;

/** After so many cases blocks are made anew, of the next seed. */
const CASES_OF_A_SEED = 20_000;
/** How often a line says that it still goes on, in milliseconds. */
const TELL_EVERY_MS = 30_000;

const say = (line: string): void => void process.stderr.write(`${line}\n`);

function usage(message: string): never {
  say(`${message}\nRun with --help for what there is.`);
  process.exit(64);
}

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  return usage(`--${name} takes a whole number, got "${text}".`);
}

function read() {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({
      options: {
        seed: text,
        minutes: text,
        cases: text,
        case: text,
        declines: flag,
        help: { ...flag, short: 'h' },
      },
    }).values;
  } catch (error) {
    return usage((error as Error).message);
  }
}

/** Writes the answers of a failing case; returns the folder. */
function keep({ seed, index, case: { raw, policy }, disagreement }: Failure): string {
  const folder = mkdtempSync(join(tmpdir(), `fuzz-${seed}-${index}-`));
  for (const [part, bytes] of Object.entries(raw))
    writeFileSync(join(folder, `${part}.json`), bytes as Buffer);
  writeFileSync(join(folder, 'case.json'), JSON.stringify({ seed, index, policy, disagreement }, null, 2));
  return folder;
}

function table(total: Counts): string {
  const rows = KINDS_OF_CASES.map((kind) => {
    const { accepted, declined, refused } = total[kind];
    return [kind, accepted, declined, refused].map((cell) => String(cell).padStart(12)).join('');
  });
  return ['            accepted by both    declined refused by both', ...rows].join('\n');
}

const values = read();
if (values.help === true) {
  process.stdout.write(HELP);
  process.exit(0);
}
if (values.declines === true) {
  process.stdout.write(`${(await countDeclines(ALL)).map(toRow).join('\n')}\n`);
  process.exit(0);
}
const first = wholeNumber('seed', values.seed ?? '1');
const only = values.case === undefined ? undefined : wholeNumber('case', values.case);
const cases = values.cases === undefined ? undefined : wholeNumber('cases', values.cases);
const endsAt = performance.now() + 60_000 * wholeNumber('minutes', values.minutes ?? '1');

const recorded = smallSamples(ALL);
if (GIVEN === null) say('RECORDINGS names no folder: only blocks that every clone has.');
const total = Object.fromEntries(
  KINDS_OF_CASES.map((kind) => [kind, { accepted: 0, declined: 0, refused: 0 }]),
) as Counts;
const keccak = await createKeccak256();
let tried = 0;
let toldAt = performance.now();

/** Tries cases of one seed; returns the first failure. */
async function run(fuzz: Fuzz, from: number, count: number): Promise<Failure | undefined> {
  for (let index = from; index < from + count; index++) {
    const now = performance.now();
    if (cases === undefined && only === undefined && now > endsAt) break;
    if (now - toldAt > TELL_EVERY_MS) {
      toldAt = now;
      say(`${tried} cases …`);
    }
    tried++;
    const failure = await fuzz.attempt(index);
    if (failure !== undefined) return failure;
  }
  for (const kind of KINDS_OF_CASES)
    for (const how of ['accepted', 'declined', 'refused'] as const)
      total[kind][how] += fuzz.counts[kind][how];
  return undefined;
}

for (let seed = first; ; seed++) {
  const samples = [...madeSamples(seed, keccak), ...recorded];
  const fuzz = await createFuzz({ seed, makeScan: getScanner, samples, asks: true });
  const failure = await run(fuzz, only ?? 0, only === undefined ? (cases ?? CASES_OF_A_SEED) : 1);
  if (failure !== undefined) {
    say(`${describeFailure(failure)}\nanswers: ${keep(failure)}`);
    process.exit(1);
  }
  if (only !== undefined || cases !== undefined || performance.now() > endsAt) break;
}
process.stdout.write(`${tried} cases\n${table(total)}\n`);
process.exit(0);
