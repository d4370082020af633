import { RLP } from '@ethereumjs/rlp';
import { GIVEN, type Json } from '@packhouse/recordings';
import { describe, expect, it } from 'vitest';
import { address, d, getBlock, getHash, q, word } from '../test/built-block.js';
import { otherBlocks, POLICY } from '../test/recorded.js';
import { thrown } from '../test/tamper.js';
import { createProver } from './create-prover.js';
import type { ProofPolicy } from './prove/proved-block.js';

const EMPTY: Json = {
  from: address('0'),
  to: address('0'),
  gas: '0x0',
  gasPrice: '0x0',
  nonce: '0x0',
  value: '0x0',
  input: '0x',
  type: '0x0',
  v: '0x0',
  r: word('0'),
  s: word('0'),
};

const prove = async (
  policy: Partial<ProofPolicy>,
  answer: Parameters<Awaited<ReturnType<typeof createProver>>['proveBlock']>[0],
) => (await createProver({ ...POLICY, ...policy })).proveBlock(answer);

const failure = (policy: Partial<ProofPolicy>, answer: Parameters<typeof prove>[1]) =>
  prove(policy, answer).then(
    () => undefined,
    (error: unknown) => error,
  );

const hex = (number: number) => `0x${number.toString(16)}`;

/** A block of this number with its state sync; `of`: the number that the hash of the state sync is made of. */
async function synced(number: number, of = number) {
  const { block } = await getBlock([[EMPTY, null]], { number: hex(number) });
  const hash = getHash(
    Buffer.concat([
      Buffer.from('matic-bor-receipt-'),
      Buffer.from(of.toString(16).padStart(16, '0'), 'hex'),
      d(block.hash),
    ]),
  );
  return getBlock([[{ ...EMPTY, hash }, null]], { number: hex(number) });
}

describe('a state sync of Polygon', () => {
  it('has the hash of its block, and its receipts are not claimed', async () => {
    const answer = await synced(64);
    const { proofs, notProved } = await prove({ chainId: 137 }, answer);
    expect(proofs).toEqual(['headerHash', 'transactionsRoot', 'consistency']);
    // and the size
    expect(notProved.map(({ proof }) => proof)).toEqual(['receiptsRoot', 'logsBloom', 'consistency']);
    const prover = await createProver({ ...POLICY, chainId: 137 });
    for (const [name, value] of [
      ['hash', word('9')],
      ['value', '0x1'],
      ['input', '0x12'],
      ['to', address('1')],
      ['from', '0x0000000000000000000000000000000000001001'],
      ['from', `0x${'f'.repeat(39)}e`],
      ['gas', '0x1'],
      ['gasPrice', '0x1'],
      ['nonce', '0x1'],
      ['v', '0x1b'],
    ] as const) {
      const changed = structuredClone(answer);
      changed.block.transactions[0]![name] = value;
      expect(
        thrown(() => prover.proveBlock(changed)),
        name,
      ).toMatchObject({
        data: { proof: 'consistency', field: `transactions[0].${name}` },
      });
    }
    expect(
      thrown(() => prover.proveBlock({ ...answer, block: { ...answer.block, transactionsRoot: word('1') } })),
    ).toMatchObject({ data: { proof: 'headerHash' } });
  });

  it.each([
    [137, 38_188_992],
    [137, 38_189_056],
    [137, 38_189_072],
    [137, 80_084_784],
    [80_002, 16],
    [80_002, 28_899_600],
    [undefined, 80_084_800],
  ])('is in the first block of a sprint: of chain %s in block %i', async (chainId, number) => {
    const policy = chainId === undefined ? { rules: 'polygon' } : { chainId };
    expect((await prove(policy, await synced(number))).proofs).toContain('consistency');
  });

  it.each([
    [137, 16, 64],
    [137, 65, 64],
    [137, 38_189_040, 64],
    [137, 38_189_057, 16],
    [137, 38_189_064, 16],
    [80_002, 8, 16],
    [undefined, 8, 16],
  ])('is in no other block: of chain %s not in block %i', async (chainId, number, sprint) => {
    const policy = chainId === undefined ? { rules: 'polygon' } : { chainId };
    expect(await failure(policy, await synced(number))).toMatchObject({
      code: 'PROOF_FAILED',
      data: { field: 'transactions[0]', got: 'a state sync', expected: 'none' },
      message: expect.stringContaining(`the first block of a sprint of ${sprint} blocks`),
    });
  });

  it.each([
    [137, 80_084_800],
    [137, 80_084_816],
    [80_002, 28_899_616],
  ])('is in the roots since Madhugiri: of chain %i in block %i', async (chainId, number) => {
    expect(await failure({ chainId }, await synced(number))).toMatchObject({
      data: { field: 'transactions[0].type', expected: '0x7f' },
    });
  });

  it('has the hash of its own block, not that of another number', async () => {
    expect(await failure({ chainId: 137 }, await synced(64, 128))).toMatchObject({
      data: { field: 'transactions[0].hash' },
    });
  });

  it('is the last of its block, and one', async () => {
    const { block } = await synced(64);
    const [sync] = block.transactions;
    const twice = await getBlock(
      [
        [sync!, null],
        [sync!, null],
      ],
      { number: hex(64) },
    );
    expect(await failure({ chainId: 137 }, twice)).toMatchObject({ data: { proof: 'consistency' } });
  });

  it.each([
    [137, 80_084_800, undefined],
    [137, 80_084_801, 'transactions[0]'],
    [137, 64, 'transactions[0].type'],
    [80_002, 28_899_600, 'transactions[0].type'],
  ])('with a type of its own stands at its place too: chain %i, block %i', async (chainId, number, field) => {
    const typed = { ...EMPTY, type: '0x7f', hash: word('8') };
    const answer = await getBlock([[typed, null]], { number: hex(number) });
    const error = await failure({ chainId, header: 'trust' }, answer);
    if (field === undefined) expect(error).toBeUndefined();
    else expect(error).toMatchObject({ code: 'PROOF_FAILED', data: { field } });
    const first = await getBlock(
      [
        [typed, null],
        [typed, null],
      ],
      { number: hex(80_084_800) },
    );
    expect(await failure({ chainId: 137, header: 'trust' }, first)).toMatchObject({
      data: { field: 'transactions[0].type' },
    });
  });
});

describe.skipIf(GIVEN === null)('real blocks of Polygon (needs RECORDINGS)', () => {
  it('are refused with the state sync of another block, or of the middle of a sprint', async () => {
    const { net: _, ...trimmed } = otherBlocks().get('polygon 34155965')!;
    expect(await failure({ chainId: 137 }, trimmed)).toMatchObject({ code: 'PROOF_FAILED' });
    const { net: __, ...whole } = otherBlocks().get('polygon 50000000')!;
    const last = whole.block.transactions.at(-1)!;
    const place = { transactionIndex: hex(whole.block.transactions.length), blockHash: last.blockHash };
    const invented = { ...EMPTY, ...place, blockNumber: last.blockNumber, hash: word('9') };
    whole.block.transactions.push(invented);
    expect(await failure({ chainId: 137 }, { block: whole.block })).toMatchObject({
      data: { field: `transactions[${whole.block.transactions.length - 1}].hash` },
    });
  });
});

const HYPE = `0x${'2'.repeat(40)}`;
const TOKEN_200 = '0x20000000000000000000000000000000000000c8';

/** A system transaction as nanoreth writes it, with its hash; `s` names the sender. */
function ofSystem(from: string, more: Json = {}): Json {
  const s = from === HYPE ? '0x1' : `0x${from.slice(2).replace(/^0+(?=.)/, '')}`;
  const to = address('b');
  const tx: Json = {
    ...EMPTY,
    from,
    to,
    gas: '0x30d40',
    nonce: '0x5',
    value: '0x9',
    v: '0x7f2',
    r: '0x1',
    s,
  };
  Object.assign(tx, more);
  const items = [q(tx.nonce), 0n, q(tx.gas), d(tx.to), q(tx.value), d(tx.input), q(tx.v), q(tx.r), q(tx.s)];
  return { hash: getHash(RLP.encode(items)), ...tx };
}

describe('a transaction that the system of HyperEVM makes', () => {
  it.each([HYPE, TOKEN_200, `0x20${'0'.repeat(38)}`, `0x20${'0'.repeat(22)}${'f'.repeat(16)}`])(
    'of %s leaves the roots of the others checked, but not claimed',
    async (from) => {
      const answer = await getBlock([[ofSystem(from), null]]);
      const { proofs, notProved } = await prove({ chainId: 999 }, answer);
      expect(proofs).toEqual(['headerHash', 'consistency']);
      expect(notProved.map(({ proof }) => proof)).toEqual([
        'transactionsRoot',
        'receiptsRoot',
        'logsBloom',
        // the size
        'consistency',
      ]);
    },
  );

  it.each([
    address('a'),
    address('0'),
    '0x0000000000000000000000000000000000000001',
    `0x21${'0'.repeat(38)}`,
    `0x20${'0'.repeat(20)}1${'0'.repeat(17)}`,
    `0x${'2'.repeat(39)}3`,
  ])('is of no other sender: not of %s', async (from) => {
    const answer = await getBlock([[ofSystem(from), null]]);
    expect(await failure({ chainId: 999 }, answer)).toMatchObject({
      code: 'PROOF_FAILED',
      data: { proof: 'transactionsRoot' },
    });
  });

  it.each([
    ['hash', { hash: word('7') }, 'hash'],
    ['value after the hash was made', { hash: ofSystem(HYPE).hash, value: '0x8' }, 'hash'],
    ['sender than its signature names', { from: TOKEN_200, s: '0x1' }, 'from'],
    ['sender than its signature names, of a token', { from: HYPE, s: TOKEN_200 }, 'from'],
  ])('has no other %s', async (_, more, field) => {
    const answer = await getBlock([[{ ...ofSystem(HYPE, more), ...more }, null]]);
    expect(await failure({ chainId: 999 }, answer)).toMatchObject({
      data: { field: `transactions[0].${field}` },
    });
  });

  it('costs something, or creates a contract, only as a transaction of the root', async () => {
    for (const more of [
      { gasPrice: '0x1' },
      { to: null, input: '0x00' },
      { type: '0x2', maxFeePerGas: '0x0' },
    ]) {
      const { block } = await getBlock([[{ ...ofSystem(HYPE), ...more }, null]]);
      expect(await failure({ chainId: 999 }, { block }), JSON.stringify(more)).toBeDefined();
    }
  });

  it('comes before all others', async () => {
    const bytes = RLP.encode([0n, 1n, 0x5208n, d(address('b')), 0n, d('0x'), 0x7f2n, 1n, 1n]);
    const other: Json = {
      ...EMPTY,
      from: address('a'),
      to: address('b'),
      gas: '0x5208',
      gasPrice: '0x1',
      v: '0x7f2',
      r: '0x1',
      s: '0x1',
      hash: getHash(bytes),
    };
    const before = await getBlock([
      [ofSystem(HYPE), null],
      [ofSystem(TOKEN_200), null],
      [other, bytes],
    ]);
    // the trie of the others counts from 0
    expect((await prove({ chainId: 999 }, before)).proofs).toContain('consistency');
    const after = await getBlock([
      [other, bytes],
      [ofSystem(HYPE), null],
    ]);
    expect(await failure({ chainId: 999 }, after)).toMatchObject({ data: { proof: 'transactionsRoot' } });
  });

  it('uses no gas', async () => {
    for (const name of ['gasUsed', 'cumulativeGasUsed'] as const) {
      const answer = await getBlock([[ofSystem(HYPE), null]]);
      answer.receipts[0]![name] = '0x1';
      expect(await failure({ chainId: 999 }, answer)).toMatchObject({
        data: { field: `receipts[0].${name}` },
      });
    }
  });

  it('is of a holder only for one token of the test network, from one block on', async () => {
    const to = '0x2b3370ee501b4a559b57d449569354196457d8ab';
    const of = async (chainId: number, number: number, more: Json = {}) => {
      const v = hex(2 * chainId + 36);
      const answer = await getBlock([[ofSystem(address('a'), { to, v, ...more }), null]], {
        number: hex(number),
      });
      return failure({ chainId }, answer);
    };
    expect(await of(998, 55_231_857)).toBeUndefined();
    expect(await of(998, 55_231_856)).toBeDefined();
    expect(await of(999, 55_231_857)).toBeDefined();
    expect(await of(998, 55_231_857, { to: address('b') })).toBeDefined();
  });
});
