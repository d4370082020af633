import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3';
import { ALL, type Json, type Recorded } from '@packhouse/recordings';
import { beforeAll, describe, expect, it } from 'vitest';
import { toAmsterdam } from '../test/amsterdam.js';
import { POLICY } from '../test/recorded.js';
import { flipped, thrown } from '../test/tamper.js';
import { canonicalRecord } from './canonical-record.js';
import { createProver, type Prover } from './create-prover.js';
import { encodeHeader } from './encode/encode-block.js';
import { RlpBuffer } from './encode/rlp-buffer.js';
import { readBlock } from './record/block.js';
import { Reader } from './record/reader.js';
import { ETHEREUM_HEADER } from './rules/ethereum.js';

let prover: Prover;
beforeAll(async () => {
  prover = await createProver({ ...POLICY, chainId: 1 });
});

const ROOT = `0x${'ab'.repeat(32)}`;

/** The hash of a block's header with more fields behind those that are known. */
function hashWith(block: Json, more: readonly string[]): string {
  const rlp = new RlpBuffer();
  encodeHeader(rlp, readBlock(new Reader(true), block, { seals: 'required' }), ETHEREUM_HEADER);
  const known = RLP.decode(Uint8Array.from(rlp.item(0))) as Uint8Array[];
  const bytes = (hex: string) =>
    Buffer.from(hex.length % 2 === 1 ? hex.replace('0x', '0') : hex.slice(2), 'hex');
  return `0x${Buffer.from(keccak_256(RLP.encode([...known, ...more.map(bytes)]))).toString('hex')}`;
}

/** A block of Amsterdam with fields of the fork after it; `order` is that of the header. */
function toFuture(amsterdam: string, fields: Json, order: readonly string[]): Recorded {
  const answer = JSON.parse(amsterdam) as Recorded;
  const hash = hashWith(
    answer.block,
    order.map((name) => fields[name] as string),
  );
  const moved = JSON.parse(amsterdam.replaceAll(answer.block.hash as string, hash)) as Recorded;
  Object.assign(moved.block, fields);
  return moved;
}

describe.each(ALL)('a fork that no table names, after $title', (source) => {
  let amsterdam: string;
  beforeAll(async () => {
    amsterdam = JSON.stringify(await toAmsterdam(source.block('forks', 22869878)));
  });
  const future = (fields: Json, order = Object.keys(fields)) => toFuture(amsterdam, fields, order);

  it.each([
    [
      'more fields than any fork appends',
      Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`f${i}`, '0x1'])),
    ],
    ['a field whose name is no word', { 'a"b': '0x1' }],
    ['a field whose name is longer than 64', { ['a'.repeat(65)]: '0x1' }],
  ])('that appends %s is not told by its fields', (_, fields) => {
    const block = future(fields);
    expect(thrown(() => prover.proveBlock(block))).toMatchObject({
      code: 'PROOF_FAILED',
      data: expect.not.objectContaining({ unknownFields: expect.anything() }),
    });
  });

  it.each([
    ['a root', { inclusionListRoot: ROOT }],
    ['a number', { targetBlobsPerBlock: '0xe' }],
    ['both', { inclusionListRoot: ROOT, targetBlobsPerBlock: '0xe' }],
    ['an address', { feeRecipient: `0x${'ab'.repeat(20)}` }],
    ['bytes with zeros in front', { proposerKey: `0x${'00'.repeat(24)}${'ab'.repeat(24)}` }],
    ['an address and a root', { feeRecipient: `0x${'00'.repeat(19)}01`, inclusionListRoot: ROOT }],
  ])('that appends %s to the header is proved as far as it goes', (_, fields) => {
    const block = prover.proveBlock(future(fields));
    expect(block.unknownFields).toEqual(Object.keys(fields));
    expect(block.proofs).toEqual([
      'headerHash',
      'transactionsRoot',
      'receiptsRoot',
      'logsBloom',
      'withdrawalsRoot',
    ]);
    expect(block.notProved).toEqual([
      {
        proof: 'consistency',
        because: expect.stringContaining(
          `fields of a fork that is not known (${Object.keys(fields).join(', ')})`,
        ),
      },
    ]);
    const text = block.texts.blockHead + block.texts.transactions + block.texts.blockTail;
    expect(JSON.parse(text)).toMatchObject(fields);
    expect(canonicalRecord('blocks', future(fields).block)).toBe(text);
  });

  it('whose fields a node sorts by name is proved in the order of the header', () => {
    const fields = { aNumber: '0x5', bRoot: ROOT, cRoot: ROOT.replace('ab', 'cd') };
    const { unknownFields } = prover.proveBlock(future(fields, ['cRoot', 'aNumber', 'bRoot']));
    expect(unknownFields).toEqual(['cRoot', 'aNumber', 'bRoot']);
  });

  it('leaves out what only looks like a field of the header', () => {
    const fields = { l1Number: '0x5', inclusionListRoot: ROOT, author: `0x${'1'.repeat(40)}` };
    expect(prover.proveBlock(future(fields, ['inclusionListRoot'])).unknownFields).toEqual([
      'inclusionListRoot',
    ]);
  });

  it('may change sums of gas and the size, but no root', () => {
    const changed = future({ inclusionListRoot: ROOT });
    changed.block.size = '0x1';
    changed.receipts![3]!.gasUsed = flipped(changed.receipts![3]!.gasUsed);
    expect(prover.proveBlock(changed).unknownFields).toEqual(['inclusionListRoot']);
    const lied = future({ inclusionListRoot: ROOT });
    lied.receipts![3]!.status = flipped(lied.receipts![3]!.status);
    expect(thrown(() => prover.proveBlock(lied))).toMatchObject({ data: { proof: 'receiptsRoot' } });
  });

  it('keeps its fields with `drop`, and nothing else that no table names', async () => {
    const dropping = await createProver({ ...POLICY, extraFields: 'drop' });
    const answer = future({ inclusionListRoot: ROOT, odd: '0x5' }, ['inclusionListRoot']);
    const { texts } = dropping.proveBlock(answer);
    expect(texts.blockTail).toContain('"inclusionListRoot"');
    expect(texts.blockTail).not.toContain('"odd"');
  });

  it('is refused with the names of its fields if they do not make the hash', () => {
    const answer = future({ inclusionListRoot: ROOT, targetBlobsPerBlock: '0xe' });
    answer.block.inclusionListRoot = flipped(ROOT);
    expect(thrown(() => prover.proveBlock(answer))).toMatchObject({
      code: 'PROOF_FAILED',
      data: { proof: 'headerHash', unknownFields: ['inclusionListRoot', 'targetBlobsPerBlock'] },
    });
    const known = source.block('forks', 22869878);
    known.block.stateRoot = ROOT;
    const error = thrown(() => prover.proveBlock(known)) as { data: object };
    expect(error.data).not.toHaveProperty('unknownFields');
  });

  it.each<[string, unknown]>([
    ['a list', [ROOT, '0x1']],
    ['an empty list', []],
    ['an object', { epoch: 1, root: ROOT }],
    ['an empty object', {}],
    ['true', true],
    ['a fraction', 0.5],
    ['an odd number of digits with a zero in front', '0x012'],
  ])('is refused with the name of a field that is %s, beside those of other forms', (_, value) => {
    const answer = future({ inclusionListRoot: ROOT });
    Object.assign(answer.block, { newField: value, inclusionListRoot: flipped(ROOT) });
    expect(thrown(() => prover.proveBlock(answer))).toMatchObject({
      code: 'PROOF_FAILED',
      data: { proof: 'headerHash', unknownFields: ['inclusionListRoot', 'newField'] },
    });
  });

  it.each<[string, unknown]>([
    ['clientVersion', 'geth'],
    ['absent', null],
    ['author', `0x${'1'.repeat(40)}`],
    ['sealFields', [ROOT]],
    ['withdrawals', []],
  ])('is not told by %s, which no header has', (name, value) => {
    const answer = source.block('forks', 15537393);
    Object.assign(answer.block, { stateRoot: ROOT, [name]: value });
    expect(thrown(() => prover.proveBlock(answer))).toMatchObject({
      code: 'PROOF_FAILED',
      data: expect.not.objectContaining({ unknownFields: expect.anything() }),
    });
  });

  it('with a list that the hash does not need is proved as far as it goes', () => {
    const answer = future({ inclusionListRoot: ROOT });
    Object.assign(answer.block, { inclusionList: [ROOT] });
    expect(prover.proveBlock(answer).unknownFields).toEqual(['inclusionListRoot']);
  });

  it('is not what a renamed field of a known fork makes', () => {
    const answer = source.block('forks', 22869878);
    answer.block.foo = answer.block.requestsHash;
    delete answer.block.requestsHash;
    expect(thrown(() => prover.proveBlock(answer))).toMatchObject({
      data: { proof: 'headerHash', unknownFields: ['foo'] },
    });
  });

  it('is not searched for in many fields', () => {
    const fields = Object.fromEntries(Array.from({ length: 5 }, (_, at) => [`field${at}`, `0x${at + 1}`]));
    expect(prover.proveBlock(future(fields)).unknownFields).toHaveLength(5);
    const reversed = Object.keys(fields).reverse();
    expect(thrown(() => prover.proveBlock(future(fields, reversed)))).toMatchObject({
      data: { proof: 'headerHash' },
    });
  });
});
