import { createProver, PROOFS, type Prover } from '@packhouse/chain';
import { beforeAll, describe, expect, it } from 'vitest';
import { EVENTS } from './make/contracts.js';
import { CLONE, type Recorded } from './recordings.js';

/** Byzantium's first block: receipts have a status from here on. */
const BYZANTIUM = 4_370_000;

const forks = CLONE.blocks('forks');
const row = CLONE.blocks('row');
const all = [...forks, ...row];

let prover: Prover;
beforeAll(async () => {
  prover = await createProver({
    chainId: 1,
    header: 'recompute',
    transactions: 'recompute',
    receipts: 'recompute',
    senders: 'all',
    extraFields: 'keep',
  });
});

describe('made blocks', () => {
  it.each(all.map((answer) => [answer.number, answer] as const))(
    '%i is proved, with every proof',
    (_, answer) => {
      const { block, receipts, traces } = answer;
      const proved = prover.proveBlock(receipts === undefined ? { block } : { block, receipts });
      expect(proved.proofs).toEqual(
        PROOFS.filter((proof) => {
          if (proof === 'receiptsRoot' || proof === 'logsBloom') return receipts !== undefined;
          if (proof === 'withdrawalsRoot') return block.withdrawals !== undefined;
          return !['parentLink', 'traces', 'logAddresses'].includes(proof);
        }),
      );
      const open = block.uncles.length > 0 ? [expect.stringMatching(/^size is not/)] : [];
      expect(proved.notProved.map(({ because }) => because)).toEqual(open);
      expect(proved.unknownFields).toEqual([]);
      expect(proved.corrected).toEqual([]);
      if (traces !== undefined)
        expect(JSON.parse(prover.proveTraces(proved, traces))).toHaveLength(traces.length);
    },
  );

  it.each([
    ['twelve in a row', row],
    ['the first of Frontier', forks.slice(0, 2)],
    [
      'those around the first blobs',
      forks.filter(({ number }) => number >= 19_433_902 && number < 19_433_904),
    ],
    ['those around Prague', forks.filter(({ number }) => number >= 22_431_083 && number < 22_431_085)],
    ['the one without transactions and its neighbours', forks.slice(-4, -1)],
  ])('are linked to each other: %s', (_, blocks) => {
    expect(blocks.length).toBeGreaterThan(1);
    for (const [at, { number, block }] of blocks.entries()) {
      const before = blocks[at - 1];
      if (before === undefined) continue;
      expect(number).toBe(before.number + 1);
      expect(block.parentHash).toBe(before.block.hash);
      const [total, other] = [block, before.block].map(
        ({ totalDifficulty }) => totalDifficulty as string | undefined,
      );
      if (total !== undefined && other !== undefined)
        expect(BigInt(total)).toBe(BigInt(other) + BigInt(block.difficulty as string));
    }
  });

  it('have the numbers that tests ask for', () => {
    expect(forks.map(({ number }) => number)).toEqual([
      47218, 47219, 1000000, 4369999, 4662649, 12900060, 12972264, 14764013, 15537393, 15537394, 18500000,
      19433902, 19433903, 22431083, 22431084, 22431086, 22869878, 22869879, 22869880, 23950000,
    ]);
    expect(row.map(({ number }) => number)).toEqual(Array.from({ length: 12 }, (_, at) => 17_686_110 + at));
  });
});

const block = (number: number): Recorded => all.find((each) => each.number === number)!;
const types = ({ block: { transactions } }: Recorded): unknown[] =>
  [...new Set(transactions.map(({ type }) => type))].sort();
const receipts = (answers = all) => answers.flatMap(({ receipts: ofOne = [] }) => ofOne);
const logs = (answers = all) => receipts(answers).flatMap((receipt) => receipt.logs);
const traces = (answers = all) => answers.flatMap(({ traces: ofOne = [] }) => ofOne);
const transactions = (answers = all) => answers.flatMap((answer) => answer.block.transactions);

describe('what is in made blocks', () => {
  it.each([
    [47218, ['0x0']],
    [12900060, ['0x0', '0x1']],
    [12972264, ['0x0', '0x2']],
    [18500000, ['0x0', '0x2']],
    [19433903, ['0x0', '0x2', '0x3']],
    [22431086, ['0x0', '0x2', '0x4']],
    [22869878, ['0x0', '0x1', '0x2', '0x3', '0x4']],
    [23950000, ['0x0', '0x1', '0x2', '0x3', '0x4']],
    [17686110, ['0x0', '0x1', '0x2']],
  ])('%i has transactions of types %o', (number, expected) => {
    expect(types(block(number))).toEqual(expected);
  });

  it('of each type there are several with logs, the first of them without an access list', () => {
    for (const [number, ofBlock] of [
      [17686110, ['0x0', '0x1', '0x2']],
      [19433903, ['0x3']],
      [22869878, ['0x0', '0x1', '0x2', '0x3', '0x4']],
    ] satisfies [number, string[]][]) {
      const answer = block(number);
      for (const type of ofBlock) {
        const ofType = answer.block.transactions.filter(
          (tx, at) => tx.type === type && answer.receipts![at]!.logs.length > 0,
        );
        expect(ofType.length, `${number} ${type}`).toBeGreaterThan(1);
        expect(ofType[0]!.accessList ?? [], `${number} ${type}`).toEqual([]);
      }
    }
  });

  it('receipts have a root before Byzantium and a status after it, of both values', () => {
    for (const { number, receipts: ofOne = [] } of all)
      for (const { root, status } of ofOne)
        expect([typeof root, typeof status]).toEqual(
          number < BYZANTIUM ? ['string', 'undefined'] : ['undefined', 'string'],
        );
    expect(new Set(receipts().map(({ status }) => status))).toEqual(new Set([undefined, '0x0', '0x1']));
    expect(block(22431086).receipts).toBeUndefined();
  });

  it('logs have 0 to 4 topics, and some have no data', () => {
    for (const answers of [forks, row]) {
      expect(new Set(logs(answers).map(({ topics }) => topics.length))).toEqual(new Set([0, 1, 2, 3, 4]));
      expect(logs(answers).some(({ data }) => data === '0x')).toBe(true);
    }
    expect(receipts([block(12972264)]).some(({ logs: { length } }) => length > 2)).toBe(true);
  });

  it('traces are of calls of every kind, creations, self-destructs and rewards, of which some failed', () => {
    expect(new Set(traces().map(({ type }) => type))).toEqual(
      new Set(['call', 'create', 'suicide', 'reward']),
    );
    const kinds = new Set(traces().flatMap(({ action }) => (action.callType as string | undefined) ?? []));
    expect(kinds).toEqual(new Set(['call', 'callcode', 'delegatecall', 'staticcall']));
    expect(new Set(traces().map(({ error }) => error))).toEqual(
      new Set([undefined, 'Reverted', 'Out of gas', 'Bad instruction', 'Bad jump destination']),
    );
    const deep = traces().map(({ traceAddress }) => (traceAddress as number[]).length);
    expect(Math.max(...deep)).toBeGreaterThan(1);
    const paris = traces([block(15537394)]);
    for (const failed of [true, false])
      expect(paris.some(({ type, error }) => type === 'create' && (error !== undefined) === failed)).toBe(
        true,
      );
    expect(paris.some(({ type, error }) => type === 'call' && error === 'Reverted')).toBe(true);
    expect(traces([block(12900060)]).some(({ type }) => type === 'suicide')).toBe(true);
    for (const number of [1000000, 12900060, 12972264, 15537393])
      expect(traces([block(number)]).filter(({ type }) => type === 'reward')).toHaveLength(1);
    expect(traces(row).some(({ type }) => type === 'create')).toBe(true);
  });

  it('traces of the row begin with a tree that logs in one call', () => {
    const ofFirst = traces([row[0]!]);
    const root = ofFirst.find(
      ({ traceAddress, subtraces }) => (traceAddress as unknown[]).length === 0 && (subtraces as number) > 1,
    );
    expect(root).toMatchObject({ type: 'call', action: { callType: 'call' } });
    expect(root!.error).toBeUndefined();
    const inner = ofFirst.find(
      ({ traceAddress, action, result }) =>
        (traceAddress as unknown[]).length === 1 &&
        action.callType === 'call' &&
        String(result?.output).length > 2,
    );
    expect(inner).toMatchObject({ transactionHash: root!.transactionHash });
    expect(logs([row[0]!]).some(({ address }) => address === inner!.action.to)).toBe(true);
  });

  it('blocks have uncles, withdrawals, blobs and requests where their fork has them', () => {
    expect([4662649, 14764013].map((number) => block(number).block.uncles.length)).toEqual([2, 1]);
    for (const { number, block: header } of forks) {
      expect(header.withdrawals?.length ?? 0, String(number)).toBe(number >= 17_034_870 ? 16 : 0);
      expect(header.excessBlobGas !== undefined).toBe(number >= 19_426_587);
      expect(header.requestsHash !== undefined).toBe(number >= 22_431_084);
    }
    // as archives have it that kept the root alone
    for (const { block: header } of row) expect(header).not.toHaveProperty('withdrawals');
    expect(block(22869879).block.transactions).toEqual([]);
    expect(block(22869880).block.transactions).toHaveLength(500);
    expect(block(12972264).block.transactions).toHaveLength(301);
  });

  it('transactions have what their types add', () => {
    const lists = transactions().flatMap(
      ({ accessList }) => (accessList as { storageKeys: string[] }[]) ?? [],
    );
    expect(new Set(lists.map(({ storageKeys }) => storageKeys.length > 0))).toEqual(new Set([true, false]));
    const blobs = transactions().flatMap(
      ({ blobVersionedHashes }) => (blobVersionedHashes as string[]) ?? [],
    );
    expect(blobs.length).toBeGreaterThan(5);
    const signed = transactions().flatMap(
      ({ authorizationList }) => (authorizationList as { chainId: string }[]) ?? [],
    );
    expect(new Set(signed.map(({ chainId }) => chainId))).toEqual(new Set(['0x0', '0x1']));
    expect(receipts().some(({ blobGasPrice }) => BigInt((blobGasPrice as string) ?? '0x0') > 1n)).toBe(true);
    const london = block(12972264).block.transactions;
    expect(new Set(london.map(({ v }) => v))).toEqual(
      new Set(['0x1b', '0x1c', '0x25', '0x26', '0x0', '0x1']),
    );
    expect(new Set(london.slice(0, 5).map(({ from }) => from)).size).toBe(5);
  });

  it('legacy signatures name no chain now and then, also in a block of all types', () => {
    const { block: prague } = block(22869878);
    const found = new Set(prague.transactions.filter(({ type }) => type === '0x0').map(({ v }) => v));
    expect(found).toEqual(new Set(['0x1b', '0x1c', '0x25', '0x26']));
    expect(prague.transactions[0]!.type).not.toBe('0x0');
  });

  it('inputs have no bytes, four, or some thousands', () => {
    const sizes = new Set(transactions().map(({ input }) => (String(input).length - 2) / 2));
    expect(sizes.has(0)).toBe(true);
    expect(sizes.has(4)).toBe(true);
    expect(Math.max(...sizes)).toBeGreaterThan(3_000);
  });

  it('receipts of Frontier lack what follows from the transactions', () => {
    for (const receipt of receipts(forks.slice(0, 2)))
      for (const name of ['from', 'to', 'type', 'effectiveGasPrice'])
        expect(receipt).not.toHaveProperty(name);
  });

  it('most logs of the row are of tokens, several in a receipt', () => {
    const tokens = new Set<string | undefined>([EVENTS.transfer, EVENTS.approval]);
    for (const answer of row) {
      const ofBlock = logs([answer]);
      const known = ofBlock.filter(({ topics }) => tokens.has(topics[0]));
      expect(known.length).toBeGreaterThan(ofBlock.length / 2);
      expect(receipts([answer]).some(({ logs: { length } }) => length > 2)).toBe(true);
    }
  });

  it('transactions create contracts, and fail to', () => {
    const created = receipts().filter(({ contractAddress }) => contractAddress !== null);
    expect(new Set(created.map(({ status }) => status))).toEqual(new Set(['0x0', '0x1', undefined]));
  });
});
