import { GIVEN } from '@packhouse/recordings';
import { describe, expect, it } from 'vitest';
import { address } from '../test/built-block.js';
import { type OtherBlock, otherBlocks, POLICY } from '../test/recorded.js';
import { thrown } from '../test/tamper.js';
import { createProver } from './create-prover.js';

const CHAINS = { cronos: 25, 'stable-testnet': 2_201, 'tempo-mainnet': 4_217 } as const;

/** Proves a changed copy of a real block; returns what is said of it, or the error. */
async function outcome(name: string, change: (block: OtherBlock) => unknown, chainId?: number) {
  const block = otherBlocks().get(name)!;
  change(block);
  const { net, ...answer } = block;
  const prover = await createProver({ ...POLICY, chainId: chainId ?? CHAINS[net as keyof typeof CHAINS] });
  let proved: ReturnType<typeof prover.proveBlock> | undefined;
  const error = thrown(() => {
    proved = prover.proveBlock(answer);
  });
  return { proved: proved!, error };
}

const same = () => undefined;

describe.skipIf(GIVEN === null)('Cronos (needs RECORDINGS)', () => {
  it('has no receipt of a transaction that exceeds the gas of its block, which is named', async () => {
    const { proved } = await outcome('cronos 6541', same);
    expect(proved.missing).toEqual(['receipts']);
    expect(proved.texts.receipts).toBe('[]');
    expect(proved.texts.logs).toBe('[]');
    expect(proved.transactions[0]).not.toHaveProperty('success');
    expect(proved.proofs).toEqual([]);
    expect(proved.notProved.find(({ proof }) => proof === 'consistency')?.because).toMatch(
      /^a node of Cronos may have no receipt of a transaction that exceeds the gas of its block/,
    );
  });

  it('has all receipts of a block that does not exceed its gas, and of others all but those that did', async () => {
    const removals = [
      (list: object[]) => list.shift(),
      (list: object[]) => list.splice(2, 1),
      (list: object[]) => list.splice(0),
    ];
    for (const remove of [...removals, (list: object[]) => list.pop()]) {
      const { error } = await outcome('cronos 11446765', ({ receipts }) => remove(receipts!));
      expect(error).toMatchObject({ code: 'PROOF_FAILED', data: { field: 'receipts.length' } });
    }
    for (const remove of removals) {
      const { error } = await outcome('cronos 68215', ({ receipts }) => remove(receipts!));
      expect(error).toMatchObject({ code: 'PROOF_FAILED', data: { field: 'gasUsed' } });
    }
    const { proved } = await outcome('cronos 68215', ({ receipts }) => receipts!.pop());
    expect([proved.missing, proved.proofs]).toEqual([['receipts'], []]);
    expect(JSON.parse(proved.texts.receipts!)).toHaveLength(6);
    expect(proved.transactions.map((tx) => tx.success)).toEqual([
      true,
      true,
      true,
      true,
      true,
      true,
      undefined,
    ]);
    for (const changes of [{ gasLimit: '0x9df7df' }, { gasUsed: '0x9df7de' }, { gasUsed: '0x9df7e0' }]) {
      const { error } = await outcome('cronos 6541', ({ block }) => Object.assign(block, changes));
      expect(error, JSON.stringify(changes)).toMatchObject({ code: 'PROOF_FAILED' });
    }
  });

  it('has those that are there in the order of their transactions, each of one', async () => {
    for (const [change, field] of [
      [(list: object[]) => list.splice(0, 3, list[1]!, list[0]!), 'receipts[1].transactionHash'],
      [(list: object[]) => list.splice(0, 3, list[0]!, list[0]!), 'receipts[1].transactionHash'],
      [
        (list: object[]) => list.splice(0, 2, { ...list[0]!, transactionIndex: '0x1' }),
        'receipts[0].transactionIndex',
      ],
      [(list: object[]) => list.push(list[0]!), 'receipts.length'],
    ] as const) {
      const { error } = await outcome('cronos 68215', ({ receipts }) => change(receipts!));
      expect(error, field).toMatchObject({ code: 'PROOF_FAILED', data: { field } });
    }
  });

  it('numbers its logs with gaps, which is named, but never twice or backwards', async () => {
    const { proved } = await outcome('cronos 11446765', same);
    expect(proved.missing).toEqual([]);
    expect(proved.notProved.find(({ proof }) => proof === 'consistency')?.because).toMatch(/have gaps/);
    expect(JSON.parse(proved.texts.logs!)[7].logIndex).toBe('0x9');
    for (const logIndex of ['0x6', '0x0', '0xa', `0x${'f'.repeat(40)}`]) {
      const { error } = await outcome('cronos 11446765', ({ receipts }) => {
        receipts![2]!.logs[0]!.logIndex = logIndex;
      });
      expect(error, logIndex).toMatchObject({ code: 'PROOF_FAILED', data: { proof: 'consistency' } });
    }
    const dense = await outcome('cronos 68215', same);
    expect(dense.proved.proofs).toEqual(['consistency']);
  });
});

describe.skipIf(GIVEN === null)('Stable (needs RECORDINGS)', () => {
  it('numbers the logs of some blocks from 0 in each transaction, which is named', async () => {
    const { proved } = await outcome('stable-testnet 42767022', same);
    expect(proved.proofs).toEqual(['transactionsRoot', 'receiptsRoot', 'logsBloom', 'withdrawalsRoot']);
    expect(proved.notProved.find(({ proof }) => proof === 'consistency')?.because).toMatch(
      /^the logs are numbered from 0 in each transaction/,
    );
    expect(JSON.parse(proved.texts.logs!).map((log: { logIndex: string }) => log.logIndex)).toEqual([
      '0x0',
      '0x1',
      '0x2',
      '0x3',
      '0x0',
    ]);
  });

  it.each([
    ['a gap', 1, 0, '0x1'],
    ['a gap behind the others', 1, 0, '0x5'],
    ['two that are the same', 0, 1, '0x0'],
    ['the first of the block with a gap', 0, 0, '0x1'],
  ])('never has %s', async (_, receipt, log, logIndex) => {
    const { error } = await outcome('stable-testnet 42767022', ({ receipts }) => {
      receipts![receipt]!.logs[log]!.logIndex = logIndex;
    });
    expect(error).toMatchObject({ code: 'PROOF_FAILED', data: { proof: 'consistency' } });
  });

  it('numbers those of one block in one way', async () => {
    const through = await outcome('stable-testnet 42767022', ({ receipts }) => {
      receipts![1]!.logs[0]!.logIndex = '0x4';
    });
    expect(through.proved.proofs).toContain('consistency');
    const mixed = await outcome('stable-testnet 42767022', ({ receipts }) => {
      const [first, second] = receipts!;
      second!.logs = [{ ...second!.logs[0]! }, { ...second!.logs[0]!, logIndex: '0x5' }];
      expect(first!.logs).toHaveLength(4);
    });
    expect(mixed.error).toMatchObject({ data: { field: 'receipts[1].logs[1].logIndex', expected: '0x1' } });
  });
});

describe.skipIf(GIVEN === null)('no other chain (needs RECORDINGS)', () => {
  it.each([
    ['cronos 6541', 'receipts.length'],
    ['cronos 11446765', 'receipts[2].logs[0].logIndex'],
    ['stable-testnet 42767022', 'receipts[1].logs[0].logIndex'],
  ])('may have what %s has', async (name, field) => {
    const block = otherBlocks().get(name)!;
    const policy = { ...POLICY, header: 'trust', transactions: 'trust', receipts: 'trust' } as const;
    const prover = await createProver({ ...policy, rules: 'ethereum' });
    expect(thrown(() => prover.proveBlock(block))).toMatchObject({ data: { field } });
  });
});

describe.skipIf(GIVEN === null)('Tempo (needs RECORDINGS)', () => {
  it('has transactions of type 0x76 without a recipient, whose receipts have one', async () => {
    const { proved } = await outcome('tempo-mainnet 17708868', same);
    expect(proved.proofs).toEqual(['headerHash', 'logsBloom', 'withdrawalsRoot']);
    const [first] = JSON.parse(proved.texts.transactions);
    expect(first).not.toHaveProperty('to');
    expect(first.calls).toHaveLength(1);
    expect(JSON.parse(proved.texts.receipts!)[0].to).toBe('0x20c000000000000000000000b9537d11c60e8b50');
    const { proved: withNull } = await outcome('tempo-mainnet 17708868', ({ block }) => {
      block.transactions[0]!.to = null;
    });
    expect(JSON.parse(withNull.texts.transactions)[0].to).toBeNull();
  });

  it.each([
    ['the recipient of a transaction that has one', 2, 'to', 'receipts[2].to'],
    ['the recipient of one of type 0x76, where it names one', 0, 'to', 'receipts[0].to'],
  ])('keeps %s', async (_, index, name, field) => {
    const { error } = await outcome('tempo-mainnet 17708868', ({ block, receipts }) => {
      block.transactions[index]![name] ??= receipts![index]![name];
      receipts![index]![name] = address('9');
    });
    expect(error).toMatchObject({ code: 'PROOF_FAILED', data: { field } });
  });

  it.each(['from', 'transactionHash', 'type', 'cumulativeGasUsed'])(
    'refuses another %s in the receipt of one of type 0x76',
    async (name) => {
      const { error } = await outcome('tempo-mainnet 17708868', ({ receipts }) => {
        const wrong = { from: address('9'), transactionHash: `0x${'9'.repeat(64)}`, type: '0x2' };
        receipts![1]![name] = wrong[name as keyof typeof wrong] ?? '0x1';
      });
      expect(error).toMatchObject({ code: 'PROOF_FAILED' });
    },
  );
});
