import { readFileSync } from 'node:fs';
import type { Json, Recorded } from '@packhouse/recordings';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toHistory } from '../test/history.js';
import { type Claim, NORMAL_FORMS, type NormalForm, TRUTHS } from '../test/normal-form.js';
import { POLICY } from '../test/recorded.js';
import { createProver, type Prover } from './create-prover.js';

type Extras = 'keep' | 'drop';

const provers = new Map<string, Promise<Prover>>();

function getProver(block: NormalForm['block'], extraFields: Extras): Promise<Prover> {
  const key = `${block} ${extraFields}`;
  const { chainId } = TRUTHS[block];
  const made = provers.get(key) ?? createProver({ ...POLICY, chainId, extraFields });
  provers.set(key, made);
  return made;
}

/** The texts of a block and its receipts. */
function write(prover: Prover, { block, receipts }: Recorded): string {
  const { texts } = prover.proveBlock(receipts === undefined ? { block } : { block, receipts });
  return `{"block":${texts.blockHead}${texts.transactions}${texts.blockTail},"receipts":${texts.receipts ?? '[]'}}`;
}

/** Values of a row's fields in all its records; undefined where one is absent. */
const read = ({ fields, records }: NormalForm, answer: Recorded): unknown[] =>
  records(answer).flatMap((record: Json) => fields.map((name) => record[name]));

/** What a claim says is written, of what was given and what is true. */
const MEANT: Readonly<Record<Claim, (given: unknown[], truth: unknown[]) => unknown[]>> = {
  'as given': (given) => given,
  'as given, a QUANTITY': (given) =>
    given.map((value) => (value === undefined ? value : `0x${Number(value).toString(16)}`)),
  computed: (_, truth) => truth,
  'left out': (given) => given.map(() => undefined),
};

const rows = NORMAL_FORMS.map((row) => [row.field, row.of, row] as const);

describe('the normal form', () => {
  it('is the table of docs/proofs.md', () => {
    const page = readFileSync(new URL('../../../docs/proofs.md', import.meta.url), 'utf8');
    const head = '| field | of | `keep` | `drop` |\n|---|---|---|---|\n';
    const table = page.split(head)[1]!.split('\n\n')[0]!;
    expect(table.split('\n')).toEqual(
      NORMAL_FORMS.map(({ field, of, keep, drop }) => `| ${field} | ${of} | ${keep} | ${drop} |`),
    );
  });

  it.each(rows)('has %s of %s as the table says, whatever the client', async (_, __, row) => {
    const truth = TRUTHS[row.block].make();
    expect(row.records(truth).length).toBeGreaterThan(0);
    for (const extras of ['keep', 'drop'] as const) {
      const prover = await getProver(row.block, extras);
      const text = write(prover, truth);
      for (const shape of row.shapes) {
        const given = TRUTHS[row.block].make();
        shape(given);
        const meant = MEANT[row[extras]](read(row, given), read(row, truth));
        const written = write(prover, given);
        expect(read(row, JSON.parse(written) as Recorded)).toEqual(meant);
        if (extras === 'drop') expect(written === text).toBe(true);
      }
    }
  });

  it.each(Object.keys(TRUTHS) as NormalForm['block'][])(
    'of a block of %s is the same under `drop`, whichever of these shapes a client has',
    async (block) => {
      const prover = await getProver(block, 'drop');
      const text = write(prover, TRUTHS[block].make());
      const shapes = NORMAL_FORMS.filter((row) => row.block === block).flatMap((row) => row.shapes);
      fc.assert(
        fc.property(fc.shuffledSubarray(shapes), (some) => {
          const answer = TRUTHS[block].make();
          for (const shape of some) shape(answer);
          expect(write(prover, answer) === text).toBe(true);
        }),
        { numRuns: 30 },
      );
    },
  );

  it.each(['frontier', 'london', 'prague', 'sepolia'] as const)(
    'of a block of %s is the same under `drop` if all that is given is in a history file',
    async (block) => {
      const prover = await getProver(block, 'drop');
      const truth = TRUTHS[block].make();
      expect(write(prover, toHistory(truth)) === write(prover, truth)).toBe(true);
    },
  );

  it('stays when what was written is proved again, as audits do', async () => {
    for (const block of Object.keys(TRUTHS) as NormalForm['block'][]) {
      const text = write(await getProver(block, 'drop'), TRUTHS[block].make());
      const { chainId } = TRUTHS[block];
      const auditing = await createProver({ ...POLICY, chainId, derived: 'leave' });
      expect(write(auditing, JSON.parse(text) as Recorded)).toBe(text);
    }
  });
});
