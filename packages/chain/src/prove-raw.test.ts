import { hash } from 'node:crypto';
import { ALL, type Recorded } from '@packhouse/recordings';
import { describe, expect, it } from 'vitest';
import { toRaw } from '../test/raw.js';
import { POLICY } from '../test/recorded.js';
import { createProver, type Prover } from './create-prover.js';
import type { RawBlock } from './prove/prove-raw.js';
import type { ProofPolicy } from './prove/proved-block.js';
import { traceProofs } from './prove/trace-prover.js';

/** Texts by their digests: a difference of megabytes would not be shown well. */
const digests = (texts: object): unknown =>
  Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [
      name,
      hash('sha256', (text as Buffer | string).toString('latin1')),
    ]),
  );

/** What the prover says of a recorded block, in the form of proveRaw. */
function provedByObjects(prover: Prover, { block, receipts, traces }: Recorded): unknown {
  const { transactions, getSigner, texts, ...proved } = prover.proveBlock({
    block,
    ...(receipts === undefined ? {} : { receipts }),
  });
  const text =
    traces === undefined ? undefined : prover.proveTraces({ ...proved, transactions, getSigner }, traces);
  const own = traces === undefined ? [] : traceProofs({ ...proved, transactions });
  return {
    ...proved,
    proofs: new Set([...proved.proofs, ...own]),
    transactionCount: transactions.length,
    texts: digests({ ...texts, ...(text === undefined ? {} : { traces: text }) }),
  };
}

function provedByBytes(prover: Prover, raw: RawBlock): unknown {
  const scanned = prover.proveRaw(raw);
  if (typeof scanned === 'string') return scanned;
  const { senders, ...others } = scanned;
  const signed = senders === undefined ? [] : prover.proveSenders(scanned.number, senders);
  return { ...others, proofs: new Set([...scanned.proofs, ...signed]), texts: digests(scanned.texts) };
}

const chain = (chainId: number, more: Partial<ProofPolicy> = {}) =>
  createProver({ ...POLICY, chainId, ...more });

/** Expects that what is scanned is what the prover says, byte for byte; returns how many blocks were. */
async function expectSame(blocks: readonly Recorded[], chainId: number): Promise<number> {
  const prover = await chain(chainId, { senders: 'all' });
  let accepted = 0;
  for (const block of blocks) {
    let expected: unknown;
    try {
      expected = provedByObjects(prover, block);
    } catch {
      // One of another chain.
      expect(typeof prover.proveRaw(toRaw(block))).toBe('string');
      continue;
    }
    expect(provedByBytes(prover, toRaw(block))).toEqual(expected);
    accepted++;
  }
  return accepted;
}

describe.each(ALL)('a scanned block of $title', (source) => {
  it.each(['row', 'forks'] as const)('of %s is what the prover says, byte for byte', async (name) => {
    const blocks = source.blocks(name);
    expect(await expectSame(blocks, 1)).toBe(blocks.length);
  });

  it('of OP is what the prover says, byte for byte', async () => {
    expect(await expectSame(source.blocks('optimism'), 10)).toBeGreaterThanOrEqual(3);
  });

  it('is the same without receipts, without traces and without both', async () => {
    const prover = await chain(1);
    const [block] = source.blocks('row');
    const { receipts, traces, ...bare } = block!;
    for (const parts of [
      bare,
      { ...bare, receipts: receipts! },
      { ...bare, traces: traces! },
    ] as Recorded[]) {
      expect(provedByBytes(prover, toRaw(parts))).toEqual(provedByObjects(prover, parts));
    }
  });

  it('is declined if it is written in another way, or is not right', async () => {
    const prover = await chain(1);
    const [block] = source.blocks('row');
    const raw = toRaw(block!);
    const changed = (
      part: 'transactions' | 'receipts' | 'traces',
      from: string | RegExp,
      to: string,
    ): string => {
      const text = (raw[part] as Buffer).toString('latin1');
      expect(text).toMatch(from);
      return JSON.stringify(
        prover.proveRaw({ ...raw, [part]: Buffer.from(text.replace(from, to), 'latin1') }),
      );
    };
    expect(changed('transactions', '{', '{ ')).toBe('"transactions"');
    expect(changed('transactions', '"gas":', '"nosuch":"0x0","gas":')).toBe('"transactions"');
    expect(changed('transactions', /"gas":("\w+")/, '"gas":$1,"gas":$1')).toBe('"transactions"');
    expect(changed('transactions', /"input":"0x(.)/, '"input":"0x$1\\u0061')).toBe('"transactions"');
    expect(changed('receipts', '"removed":false', '"removed":true')).toBe('"receipts"');
    expect(changed('receipts', /"logIndex":"0x1"/, '"logIndex":"0x2"')).toBe('"receipts"');
    expect(changed('receipts', /\]$/, '')).toBe('"receipts"');
    expect(changed('traces', '"subtraces":0', '"subtraces":1')).toBe('"traces"');
    expect(changed('traces', /^\[/, '[1,')).toBe('"traces"');
    for (const part of ['transactions', 'receipts', 'traces'] as const) {
      expect(changed(part, /\]$/, ']]')).toBe(JSON.stringify(part));
      expect(changed(part, /\]$/, '] ')).toBe(JSON.stringify(part));
    }
    expect(prover.proveRaw({ ...raw, header: { ...raw.header, gasUsed: '0x1' } })).toBe('header');
    expect(prover.proveRaw({ ...raw, header: {} })).toBe('header');
    expect(prover.proveRaw({ ...raw, traces: Buffer.alloc(0) })).toBe('traces');
    // Nothing of the refused ones is left.
    expect(provedByBytes(prover, raw)).toEqual(provedByObjects(prover, block!));
  });

  it('is left to the prover where not all is recomputed, or no chain is named', async () => {
    const [block] = source.blocks('row');
    const raw = toRaw(block!);
    expect((await createProver(POLICY)).proveRaw(raw)).toBe('policy');
    expect((await chain(1, { extraFields: 'drop' })).proveRaw(raw)).toBe('policy');
    expect((await chain(1, { receipts: 'trust' })).proveRaw(raw)).toBe('policy');
    expect((await chain(25)).proveRaw(raw)).toBe('rules');
    expect((await chain(10)).proveRaw(raw)).toBe('transactions');
  });
});
