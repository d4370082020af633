import { RLP } from '@ethereumjs/rlp';
import type { Json } from '@packhouse/recordings';
import { describe, expect, it } from 'vitest';
import {
  address,
  BASE,
  d,
  getBlock,
  getHash,
  getHeader,
  getRoot,
  NO_BLOOM,
  q,
  word,
} from '../test/built-block.js';
import { POLICY } from '../test/recorded.js';
import { flipped, thrown } from '../test/tamper.js';
import { createProver } from './create-prover.js';
import type { ProofPolicy } from './prove/proved-block.js';
import { UNCHECKED } from './record/unchecked.js';

const CALL: Json = {
  from: address('a'),
  to: address('b'),
  gas: '0x5208',
  gasPrice: '0x64',
  nonce: '0x7',
  value: '0x9',
  input: '0x1234',
};
const SIGNED: Json = { v: '0x1', r: word('5'), s: word('6') };
const FEES: Json = { maxFeePerGas: '0x64', maxPriorityFeePerGas: '0x2' };

/** A transaction, with the items of its encoding by the source that its rules name. */
const TYPES: readonly [chainId: number, type: string, fields: Json, items: (tx: Json) => unknown[]][] = [
  [
    42_161,
    '0x64',
    { requestId: word('4') },
    (t) => [q(t.chainId), d(t.requestId), d(t.from), d(t.to), q(t.value)],
  ],
  [
    42_161,
    '0x65',
    {},
    (t) => [q(t.chainId), d(t.from), q(t.nonce), q(t.gasPrice), q(t.gas), d(t.to), q(t.value), d(t.input)],
  ],
  [
    42_161,
    '0x66',
    { requestId: word('4'), maxFeePerGas: '0x65' },
    (t) => [q(t.chainId), d(t.requestId), d(t.from), q('0x65'), q(t.gas), d(t.to), q(t.value), d(t.input)],
  ],
  [
    42_161,
    '0x68',
    {
      ticketId: word('4'),
      refundTo: address('c'),
      maxRefund: '0x3',
      submissionFeeRefund: '0x0',
      maxFeePerGas: '0x64',
    },
    (t) => [
      q(t.chainId),
      q(t.nonce),
      d(t.from),
      q(t.gasPrice),
      q(t.gas),
      d(t.to),
      q(t.value),
      d(t.input),
      d(t.ticketId),
      d(t.refundTo),
      q(t.maxRefund),
      0n,
    ],
  ],
  [
    42_161,
    '0x69',
    {
      requestId: word('4'),
      l1BaseFee: '0x8',
      depositValue: '0x10',
      maxFeePerGas: '0x64',
      retryTo: null,
      retryValue: '0x2',
      beneficiary: address('c'),
      maxSubmissionFee: '0x6',
      refundTo: address('d'),
      retryData: '0xabcd',
    },
    (t) => [
      q(t.chainId),
      d(t.requestId),
      d(t.from),
      q(t.l1BaseFee),
      q(t.depositValue),
      q(t.maxFeePerGas),
      q(t.gas),
      Buffer.alloc(0),
      q(t.retryValue),
      d(t.beneficiary),
      q(t.maxSubmissionFee),
      d(t.refundTo),
      d(t.retryData),
    ],
  ],
  [42_161, '0x6a', {}, (t) => [q(t.chainId), d(t.input)]],
  [
    80_094,
    '0x7e',
    {},
    (t) => [q(t.chainId), d(t.from), d(t.to), q(t.nonce), q(t.gas), q(t.gasPrice), d(t.input)],
  ],
  [
    988,
    '0x3f',
    { ...SIGNED, ...FEES, accessList: [], nonceKey: '0x1', timeoutTimestamp: '0x0' },
    (t) => [
      q(t.chainId),
      q(t.nonce),
      q(t.maxPriorityFeePerGas),
      q(t.maxFeePerGas),
      q(t.gas),
      d(t.to),
      q(t.value),
      d(t.input),
      [],
      q(t.v),
      q(t.r),
      q(t.s),
      q(t.nonceKey),
      0n,
    ],
  ],
];

/** The number of a block that has the newest rules of its chain. */
const NEWEST = { number: '0x10000000' };

describe('a transaction type that one chain has', () => {
  it.each(TYPES)('on chain %i, %s, is proved by its own encoding', async (chainId, type, fields, items) => {
    const tx: Json = { ...CALL, ...fields, type, chainId: `0x${chainId.toString(16)}` };
    const bytes = Buffer.concat([Buffer.from([Number(type)]), RLP.encode(items(tx) as never)]);
    tx.hash = getHash(bytes);
    const answer = await getBlock([[tx, bytes]], NEWEST);
    const prover = await createProver({ ...POLICY, chainId, senders: 'all' });
    const { proofs, texts } = prover.proveBlock(answer);
    expect(proofs).toEqual(expect.arrayContaining(['transactionsRoot', 'receiptsRoot', 'consistency']));
    // the sender of these is in the encoding; that of the others is not proved
    const hasSender = items(tx).some((item) => Buffer.isBuffer(item) && item.equals(d(tx.from)));
    expect(proofs.includes('senders')).toBe(hasSender);
    expect(JSON.parse(texts.transactions)[0]).toMatchObject(fields);
    for (const name of Object.keys(fields).filter((key) => fields[key] !== null && key !== 'accessList')) {
      const changed = structuredClone(answer);
      changed.block.transactions[0]![name] = flipped(fields[name]);
      expect(
        thrown(() => prover.proveBlock(changed)),
        name,
      ).toMatchObject({
        data: { field: 'transactions[0].hash' },
      });
    }
    const ethereum = await createProver(POLICY);
    expect(thrown(() => ethereum.proveBlock(answer))).toMatchObject({ code: 'RECORD_INVALID' });
  });

  it('of Celo has a base fee in its receipt, in the currency of the fee', async () => {
    // 0x2403eb8e… of Celo's block 36520387
    const tx: Json = {
      accessList: [],
      chainId: '0xa4ec',
      feeCurrency: '0x0e2a3e05bc9a16f5292a6170456a710cb89c6f72',
      from: '0x7fda9576b9256c5bbe7cc487a0e49da7f038e2f3',
      gas: '0x3d97c',
      gasPrice: '0x22a4c71a0',
      hash: '0x2403eb8e9dd5230ee0c89e430591b804bb2d4e218af479e07cc8ff0b4c3611e7',
      input: '0xcac35c7a290decd9548b62a8d60345a988386fc84ba6bc95484008f6362f93160ef3e563',
      maxFeePerGas: '0x315373261',
      maxPriorityFeePerGas: '0x63e4b',
      nonce: '0x133',
      r: '0x9de05cbec31a4fcf01c652408e51c58f82aae6c66513320dd9f06b77abfe1494',
      s: '0x363706d206c4649165bb27b54e6286cf4cedac8b7fdd78d9cb1e00047240e293',
      to: '0xa0e9096b8e5ad2701f51ca1cb11684aaad91993a',
      type: '0x7b',
      v: '0x1',
      value: '0x0',
      yParity: '0x1',
    };
    const bytes = Buffer.concat([
      Buffer.from([0x7b]),
      RLP.encode([
        q(tx.chainId),
        q(tx.nonce),
        q(tx.maxPriorityFeePerGas),
        q(tx.maxFeePerGas),
        q(tx.gas),
        d(tx.to),
        q(tx.value),
        d(tx.input),
        [],
        d(tx.feeCurrency),
        q(tx.v),
        q(tx.r),
        q(tx.s),
      ]),
    ]);
    const answer = await getBlock([[tx, bytes]], NEWEST);
    const receipt = Buffer.concat([Buffer.from([0x7b]), RLP.encode([1n, 0n, d(NO_BLOOM), [], 0x55n])]);
    answer.block.receiptsRoot = await getRoot([receipt]);
    const hash = getHash(RLP.encode(getHeader(answer.block)));
    const moved = JSON.parse(JSON.stringify(answer).replaceAll(String(answer.block.hash), hash));
    moved.receipts[0].baseFee = '0x55';
    const prover = await createProver({ ...POLICY, chainId: 42_220 });
    const { proofs, texts } = prover.proveBlock(moved);
    expect(proofs).toContain('receiptsRoot');
    expect(JSON.parse(texts.receipts!)).toEqual(moved.receipts);
    moved.receipts[0].baseFee = '0x56';
    expect(thrown(() => prover.proveBlock(moved))).toMatchObject({ data: { proof: 'receiptsRoot' } });
  });
});

const prove = async (
  policy: Partial<ProofPolicy>,
  answer: Parameters<Awaited<ReturnType<typeof createProver>>['proveBlock']>[0],
) => (await createProver({ ...POLICY, ...policy })).proveBlock(answer);

/** A block that Authority Round sealed, and its size. */
function getSealed() {
  const { mixHash: _, nonce: __, ...plain } = BASE;
  const seal = `0x${'5'.repeat(130)}`;
  const sealed = { ...plain, difficulty: '0x10', step: '0x123', signature: seal, transactions: [] };
  const items = [...getHeader({ ...BASE, difficulty: '0x10' }).slice(0, 13), 0x123n, d(seal)];
  const size = `0x${RLP.encode([items, [], []]).length.toString(16)}`;
  return { answer: { block: { ...sealed, hash: getHash(RLP.encode(items)) } }, size };
}

describe('a transaction type whose encoding nobody knows', () => {
  const tx: Json = {
    hash: word('8'),
    from: address('a'),
    type: '0x76',
    calls: [{ to: address('b') }],
    gas: '0x1',
  };

  it('is kept as it comes by the rules of its chain, and the roots are named', async () => {
    const answer = await getBlock([[tx, null]]);
    const { notProved, proofs, texts } = await prove({ chainId: 4_217, header: 'trust' }, answer);
    expect(proofs).toEqual(['logsBloom']);
    expect(notProved.map(({ proof }) => proof)).toEqual([
      'headerHash',
      'transactionsRoot',
      'receiptsRoot',
      'consistency',
      // prices, the size, and gas
      'consistency',
      'consistency',
      'consistency',
    ]);
    expect(notProved[1]!.because).toMatch(/^type 0x76 has calls/);
    expect(JSON.parse(texts.transactions)[0]).toEqual(answer.block.transactions[0]);
  });

  it('is refused by a chain that has no such type, unless its transactions are trusted', async () => {
    const answer = await getBlock([[tx, null]]);
    const error = await prove({ chainId: 1 }, answer).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: 'RECORD_INVALID',
      data: {
        record: 'transaction 0',
        field: 'type',
        expected: 'a transaction type of this chain (0x0 to 0x4, 0x7e)',
      },
    });
    const trusted = await prove({ chainId: 1, transactions: 'trust', receipts: 'trust' }, answer);
    expect(trusted.proofs).toEqual(['headerHash']);
    expect(trusted.notProved).toEqual([
      {
        proof: 'transactionsRoot',
        because: "the network's policy trusts the root of the transactions that the node says",
      },
      {
        proof: 'receiptsRoot',
        because: "the network's policy trusts the root of the receipts that the node says",
      },
      { proof: 'logsBloom', because: "the network's policy trusts the blooms that the node says" },
      {
        proof: 'consistency',
        because: "the network's policy trusts the hashes of transactions that the node says",
      },
      { proof: 'consistency', because: UNCHECKED.size.because },
    ]);
    expect(JSON.parse(trusted.texts.transactions)[0]).toEqual(answer.block.transactions[0]);
  });
});

describe('a chain that no table names', () => {
  const hintOf = async (chainId: number, answer: { block: unknown }) => {
    const error = await prove({ chainId }, answer).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'PROOF_FAILED', data: { proof: 'headerHash' } });
    return (error as { hint: string }).hint;
  };

  it('is told which line of the networks file proves most of its block', async () => {
    const { answer } = getSealed();
    // The digits of the Parity family, which are no field of a header.
    answer.block.step = String(0x123);
    expect(await hintOf(123_456, answer)).toBe(
      'Another node may give the block as it should be. If all give the same, the chain has rules of its own: in the networks file, proofs: { rules: gnosis } proves headerHash, transactionsRoot, receiptsRoot, logsBloom, consistency of this block.',
    );
    expect((await prove({ rules: 'gnosis' }, answer)).proofs).toContain('headerHash');
  });

  it('is told what to trust where no rules prove it, and nothing where a table names it', async () => {
    const answer = await getBlock([]);
    answer.block.stateRoot = word('7');
    expect(await hintOf(123_456, answer)).toContain('proofs: { header: trust } proves transactionsRoot,');
    answer.block.receiptsRoot = word('7');
    expect(await hintOf(123_456, answer)).toContain('proofs: { header: trust, receipts: trust }');
    expect(await hintOf(1, answer)).toBe('Another node may give the block as it should be.');
  });
});

describe('trust of one part', () => {
  it('leaves the proofs of the others', async () => {
    const answer = await getBlock([]);
    const all = ['headerHash', 'transactionsRoot', 'receiptsRoot', 'logsBloom', 'consistency'];
    const without = async (policy: Partial<ProofPolicy>) => {
      const { proofs, notProved } = await prove({ rules: 'bnb', ...policy }, answer);
      const roots = notProved.filter(({ because }) => because !== UNCHECKED.size.because);
      expect(roots.map(({ proof }) => proof)).toEqual(
        all.filter((proof) => !proofs.includes(proof as never)),
      );
      return all.filter((proof) => !proofs.includes(proof as never));
    };
    expect(await without({})).toEqual([]);
    expect(await without({ header: 'trust' })).toEqual(['headerHash']);
    expect(await without({ receipts: 'trust' })).toEqual(['receiptsRoot', 'logsBloom']);
    answer.block.receiptsRoot = word('1');
    answer.block.transactionsRoot = word('1');
    expect(await without({ header: 'trust', transactions: 'trust', receipts: 'trust' })).toEqual(all);
  });
});

describe('a header', () => {
  it('of Authority Round may have the names of Nethermind, and lack the seals of proof of work', async () => {
    const { answer, size } = getSealed();
    const { proofs, texts } = await prove({ chainId: 100 }, answer);
    expect(proofs).toContain('headerHash');
    expect(JSON.parse(`${texts.blockHead}[]${texts.blockTail}`)).toEqual({ ...answer.block, size });
  });

  it('of Authority Round may have the digits of the Parity family', async () => {
    const { answer } = getSealed();
    const spelled = { step: String(0x123), signature: '5'.repeat(130) };
    const { proofs, texts } = await prove({ chainId: 100 }, { block: { ...answer.block, ...spelled } });
    expect(proofs).toContain('headerHash');
    expect(JSON.parse(`${texts.blockHead}[]${texts.blockTail}`)).toMatchObject(spelled);
    const other = { block: { ...answer.block, ...spelled, step: '292' } };
    await expect(prove({ chainId: 100 }, other)).rejects.toMatchObject({ data: { proof: 'headerHash' } });
  });

  it.each([
    [80_094, { parentProposerPubkey: `0x${'4'.repeat(96)}` }, ['parentProposerPubkey']],
    [
      43_114,
      {
        blockGasCost: '0x0',
        extDataGasUsed: '0x5',
        extDataHash: word('4'),
        minDelayExcess: '0x6',
        timestampMilliseconds: '0x7',
      },
      ['extDataHash', 'extDataGasUsed', 'blockGasCost', 'timestampMilliseconds', 'minDelayExcess'],
    ],
  ])(
    'of chain %i has its own fields in its own order',
    async (chainId, fields: Record<string, string>, order) => {
      const isNumber = (name: string) => fields[name]!.length < 66;
      const items = order.map((name) => (isNumber(name) ? q(fields[name]) : d(fields[name])));
      const block = {
        ...BASE,
        ...fields,
        transactions: [],
        hash: getHash(RLP.encode([...getHeader(BASE), ...items])),
      };
      expect((await prove({ chainId }, { block })).proofs).toContain('headerHash');
      const error = await prove(
        { chainId: 1 },
        { block: { ...block, [order[0]!]: flipped(fields[order[0]!]) } },
      ).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ data: { proof: 'headerHash' } });
    },
  );
});
