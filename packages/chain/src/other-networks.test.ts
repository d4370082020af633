import { readFileSync } from 'node:fs';
import { ALL, GIVEN, type Recordings } from '@packhouse/recordings';
import { describe, expect, it } from 'vitest';
import { toAmsterdam } from '../test/amsterdam.js';
import { POLICIES } from '../test/policies.js';
import { type OtherBlock, otherBlocks, POLICY } from '../test/recorded.js';
import { flipped, thrown } from '../test/tamper.js';
import { canonicalRecord } from './canonical-record.js';
import { createProver } from './create-prover.js';
import type { ProofPolicy } from './prove/proved-block.js';
import { RULE_SETS } from './rules/find-rules.js';
import type { Rules } from './rules/rule-set.js';

const page = readFileSync(new URL('../../../docs/proofs.md', import.meta.url), 'utf8');

/** The lines of the list below a heading of docs/proofs.md. */
function linesBelow(heading: string): string[] {
  const section = page.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!;
  return section.split('\n').filter((line) => line.startsWith('- '));
}

const getPolicy = ({ net, number }: { net: string; number: number }) =>
  POLICIES[`${net} ${number}`] ?? POLICIES[net]!;

const getProver = (net: string, more: Partial<ProofPolicy> = {}) =>
  createProver({ ...POLICY, ...POLICIES[net], ...more });

function block(name: string): OtherBlock {
  return otherBlocks().get(name)!;
}

describe('the rules', () => {
  it('are those of docs/proofs.md, era by era', () => {
    const lines = RULE_SETS.flatMap((set) => {
      const eras = [
        ...set.eras.map(({ label, rules }) => ({ label, ...set, ...rules })),
        { label: 'all', ...set },
      ];
      return eras.map(({ label, ...rules }) => {
        const era = label !== 'all' ? `, ${label}` : set.eras.length > 0 ? ', all others' : '';
        const reasons = getReasons(rules);
        const rest = reasons === '' ? '' : `; not proved: ${reasons}`;
        return `- \`${set.name}\` (${set.chains.join(', ')})${era}: ${provedBy(rules)}${rest}`;
      });
    });
    expect(linesBelow('Networks')).toEqual(lines);
  });

  it('name each chain once', () => {
    const ids = RULE_SETS.flatMap(({ chains }) => chains);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('have no other names than those', async () => {
    await expect(createProver({ ...POLICY, rules: 'nonsense' })).rejects.toMatchObject({
      code: 'SETTINGS_INVALID',
      message: expect.stringContaining(
        'The rules are called "nonsense", expected one of ethereum, optimism,',
      ),
    });
  });
});

function provedBy({ unproved, types: ofChain, checks }: Rules): string {
  const parts = (['header', 'hashes', 'transactions', 'receipts', 'blooms'] as const).filter(
    (part) => unproved[part] === undefined,
  );
  const known = [...ofChain].flatMap(([type, rule]) =>
    typeof rule === 'object' && 'unknown' in rule ? [] : [type],
  );
  if (parts.length === 0) return 'nothing';
  const made = parts.length === 5 ? 'all' : parts.join(', ');
  const open = [
    ...(checks.prices === 'equal' ? [] : ['prices']),
    ...(checks.size ? [] : ['size']),
    ...(checks.addresses ? [] : ['contracts']),
    ...(checks.sums ? [] : ['gas']),
  ];
  const types = known.length === 0 ? '' : `; types ${known.join(', ')}`;
  return made + types + (open.length === 0 ? '' : `; open: ${open.join(', ')}`);
}

/** The names of proofs, the four that hash a whole block as one. */
function shorten(proofs: readonly string[]): string {
  return proofs.join(', ').replace('headerHash, transactionsRoot, receiptsRoot, logsBloom', 'hashes');
}

function getReasons({ unproved, types, outside, lacksReceipts }: Rules): string {
  const unknown = [...types.values()].flatMap((rule) =>
    typeof rule === 'object' && 'unknown' in rule ? [rule.unknown] : [],
  );
  const lacking = lacksReceipts === undefined ? [] : [lacksReceipts];
  const outsiders = outside === 'none' ? [] : [OUTSIDE[outside]];
  const reasons = [...Object.values(unproved), ...unknown, ...lacking, ...outsiders];
  return [...new Set(reasons)].join('; ');
}

const OUTSIDE = {
  stateSync: 'until Madhugiri a state sync is in no root; its hash is recomputed',
  zeroPrice: 'transactions of price 0 that a system address sent are in no root',
};

/** Every block that was recorded for its own sake, with its policy and its name in docs/proofs.md. */
function allRecordings(source: Recordings) {
  const numbered = (name: 'forks' | 'optimism', policy: Partial<ProofPolicy>) =>
    source.has(name)
      ? source.blocks(name).map((block) => ({ ...block, name: String(block.number), policy }))
      : [];
  const others = source.has('other-networks') ? [...otherBlocks(source)] : [];
  return [
    ...numbered('forks', { chainId: 1 }),
    ...numbered('optimism', { rules: 'optimism' }),
    ...others.map(([name, { net, ...block }]) => ({ ...block, name, policy: getPolicy({ net, ...block }) })),
  ];
}

/** What is proved of blocks, and what is named as not proved, as the lines of a list of rules and eras. */
async function toRows(blocks: ReturnType<typeof allRecordings>): Promise<string[]> {
  const rows = new Map<string, string[]>();
  const eras = RULE_SETS.flatMap((set) => [
    ...set.eras.map(({ label }) => [set, label] as const),
    [set, ''] as const,
  ]);
  for (const { policy, name, ...answer } of blocks) {
    const prover = await createProver({ ...POLICY, ...policy });
    const { proofs, notProved, unknownFields } = prover.proveBlock(answer);
    expect(unknownFields).toEqual([]);
    const set = RULE_SETS.find((each) => each.name === prover.rules)!;
    const { number, difficulty, settledHeight } = answer.block;
    const facts = { number: Number(number), difficulty, settledHeight };
    const era = set.eras.find(({ applies }) => applies(facts))?.label ?? '';
    const missing = notProved.flatMap(({ proof }) => (proofs.includes(proof) ? [] : [proof]));
    const row = [`${set.name}|${era}`, shorten(proofs), shorten([...new Set(missing)])].join('|');
    rows.set(row, [...(rows.get(row) ?? []), name]);
  }
  return eras.flatMap(([set, label]) => {
    const of = [...rows].filter(([row]) => row.startsWith(`${set.name}|${label}|`));
    const era = label !== '' ? `, ${label}` : set.eras.length > 0 ? ', all others' : '';
    return of.map(([row, names]) => {
      const [, , proved, missing] = row.split('|');
      const rest = missing === '' ? '' : `; not ${missing}`;
      return `- \`${set.name}\`${era}: ${names.join(', ')}: ${proved || 'nothing'}${rest}`;
    });
  });
}

const getNames = (row: string): string[] => row.split(': ')[1]!.split(', ');

/** The rows with those of their blocks that others name too. */
function withSame(rows: readonly string[], others: readonly string[]): string[] {
  const known = new Set(others.flatMap(getNames));
  return rows.flatMap((row) => {
    const same = getNames(row).filter((name) => known.has(name));
    return same.length === 0 ? [] : row.split(': ').with(1, same.join(', ')).join(': ');
  });
}

describe.each(ALL)('$title', (source) => {
  it('are proved, or named as not proved, era by era as docs/proofs.md says', async () => {
    const documented = linesBelow('Real blocks');
    const rows = await toRows(allRecordings(source));
    if (source === GIVEN) return expect(rows).toEqual(documented);
    // The clone's have the numbers of some of them, and are of their forks.
    const same = withSame(rows, documented);
    expect(same).toEqual(withSame(documented, rows));
    expect(same.flatMap(getNames).length).toBeGreaterThanOrEqual(17);
  });

  it('keep with `drop` every field that their hash and roots need', async () => {
    for (const { policy, name, ...answer } of allRecordings(source)) {
      const prover = await createProver({ ...POLICY, ...policy, extraFields: 'drop' });
      const { texts, proofs } = prover.proveBlock(answer);
      const dropped = JSON.parse(texts.blockHead + texts.transactions + texts.blockTail);
      expect(prover.proveBlock({ ...answer, block: dropped }).proofs, name).toEqual(proofs);
    }
  });
});

describe.skipIf(GIVEN === null)('real blocks of other networks (needs RECORDINGS)', () => {
  it('have a text that stays the same without proofs, and holds what the node sent', async () => {
    for (const { net, ...answer } of otherBlocks().values()) {
      // The node of this devnet says 0x1.
      if (net === 'scroll-5343513301') answer.block.size = '0x5c1';
      const policy = { ...getPolicy({ net, ...answer }), derived: 'leave' } as const;
      const { texts, notProved } = (await getProver(net, policy)).proveBlock(answer);
      const header = notProved.some(({ proof }) => proof === 'headerHash') ? 'trust' : 'recompute';
      const text = texts.blockHead + texts.transactions + texts.blockTail;
      expect(canonicalRecord('blocks', answer.block, { header })).toBe(text);
      const { transactions, ...fields } = answer.block;
      expect(JSON.parse(text)).toMatchObject(fields);
      expect(JSON.parse(text).transactions.length).toBe(transactions.length);
    }
  });

  it.each([
    ['arb-sepolia 185232421', 'mixHash'],
    ['gnosis 20000000', 'auraStep'],
    ['gnosis 20000000', 'auraSeal'],
    ['tempo-mainnet 20660166', 'timestampMillisPart'],
    ['constructed-amsterdam 20000000', 'blockAccessListHash'],
    ['constructed-amsterdam 20000000', 'slotNumber'],
  ])('of %s with another %s fail their hash', async (name, field) => {
    const { net, ...answer } = block(name);
    answer.block[field] = flipped(answer.block[field]);
    const prover = await getProver(net);
    expect(thrown(() => prover.proveBlock(answer))).toMatchObject({
      code: 'PROOF_FAILED',
      data: { proof: 'headerHash' },
    });
  });

  it.each([
    ['arb-sepolia 185232421', 0, 'input'],
    ['scroll-5343513301 35', 0, 'queueIndex'],
    ['stable-testnet 59083166', 1, 'nonceKey'],
  ])('of %s with another field in transaction %i, %s, fail its hash', async (name, index, field) => {
    const { net, ...answer } = block(name);
    const tx = answer.block.transactions[index]!;
    tx[field] = flipped(tx[field]);
    const prover = await getProver(net);
    expect(thrown(() => prover.proveBlock(answer))).toMatchObject({
      data: { proof: 'consistency', field: `transactions[${index}].hash` },
    });
  });

  it('of Scroll have one sender of a message, under both of its names', async () => {
    const { net, ...answer } = block('scroll-5343513301 35');
    const [tx] = answer.block.transactions;
    const prover = await getProver(net);
    const other = flipped(tx!.from);
    expect(thrown(() => prover.proveBlock({ block: changedTo({ sender: other }) }))).toMatchObject({
      code: 'RECORD_INVALID',
      data: { record: 'transaction 0', field: 'sender', expected: `${tx!.from}, as from says` },
    });
    expect(thrown(() => prover.proveBlock({ block: changedTo({ from: other }) }))).toMatchObject({
      code: 'RECORD_INVALID',
    });
    expect(
      thrown(() => prover.proveBlock({ block: changedTo({ from: other, sender: other }) })),
    ).toMatchObject({ data: { field: 'transactions[0].hash' } });

    function changedTo(fields: object) {
      return { ...answer.block, transactions: [{ ...tx, ...fields }] };
    }
  });

  it.each([
    ['gnosis 20000000', 'transactions[0].chainId', '0x64'],
    ['gnosis 29000000', 'transactions[0].chainId', '0x64'],
    ['cronos 68215', 'transactions[0].chainId', '0x19'],
  ])('of %s are refused by a network of another chain', async (name, field, got) => {
    const { net, ...answer } = block(name);
    const rules = RULE_SETS.find(({ chains }) => chains.includes(POLICIES[net]!.chainId!))!.name;
    const prover = await createProver({ ...POLICY, chainId: 1, rules });
    expect(thrown(() => prover.proveBlock(answer))).toMatchObject({
      code: 'PROOF_FAILED',
      data: { proof: 'consistency', field, got, expected: '0x1' },
    });
    for (const tx of answer.block.transactions) delete tx.chainId;
    answer.block.transactions = answer.block.transactions.filter(({ type }) => type === '0x0');
    expect(thrown(() => prover.proveBlock(answer))).toMatchObject({
      code: 'PROOF_FAILED',
      data: { proof: 'consistency', field: expect.stringMatching(/^transactions\[0\]\.(v|chainId)$/) },
    });
  });

  it.each([
    ['gnosis 20000000', 'transactions[0].chainId'],
    ['gnosis 29000000', 'transactions[0].chainId'],
    ['cronos 68215', 'transactions[0].chainId'],
  ])(
    'of %s that a node gives as blocks of Ethereum are refused as those of another chain',
    async (name, field) => {
      const { net: _, ...answer } = block(name);
      const prover = await createProver({ ...POLICY, chainId: 1 });
      const error = thrown(() => prover.proveBlock(answer));
      expect(error).toMatchObject({
        code: 'PROOF_FAILED',
        data: { proof: 'consistency', field, expected: '0x1' },
      });
    },
  );
});

describe.each(ALL)('a block of Amsterdam, after $title', (source) => {
  it.each(['blockAccessListHash', 'slotNumber'])('with another %s fails its hash', async (field) => {
    const answer = await toAmsterdam(source.block('forks', 22869878));
    const prover = await getProver('ethereum_mainnet');
    expect(prover.proveBlock(answer).proofs).toContain('headerHash');
    answer.block[field] = flipped(answer.block[field]);
    expect(thrown(() => prover.proveBlock(answer))).toMatchObject({
      code: 'PROOF_FAILED',
      data: { proof: 'headerHash' },
    });
  });

  it('keeps the bounds of gas: from half of what the receipts use to the limit', async () => {
    const answer = await toAmsterdam(source.block('forks', 22869878));
    const prover = await getProver('ethereum_mainnet', { header: 'trust' });
    const sum = Number(answer.receipts!.at(-1)!.cumulativeGasUsed);
    const used = (gas: number) => {
      answer.block.gasUsed = `0x${gas.toString(16)}`;
      return thrown(() => prover.proveBlock(answer));
    };
    expect(used(Math.ceil(sum / 2))).toBeUndefined();
    expect(used(Number(answer.block.gasLimit))).toBeUndefined();
    const error = { data: { field: 'gasUsed', proof: 'consistency' } };
    expect(used(Math.ceil(sum / 2) - 1)).toMatchObject(error);
    expect(used(Number(answer.block.gasLimit) + 1)).toMatchObject(error);
  });

  it('logs transfers in the name of nobody, which no call has to make (EIP-7708)', async () => {
    const answer = await toAmsterdam(source.block('forks', 22869878));
    const prover = await getProver('ethereum_mainnet', { receipts: 'trust' });
    const at = answer.receipts!.findIndex(({ logs }) => logs.length > 0);
    const [log] = answer.receipts![at]!.logs;
    const others = new Set(answer.receipts![at]!.logs.slice(1).map(({ address }) => address));
    const addresses = () => prover.proveBlock(answer).transactions[at]!.logAddresses;
    expect(addresses()).toContain(log!.address);
    log!.address = '0xfffffffffffffffffffffffffffffffffffffffe';
    expect(addresses()).toEqual([...others]);
  });

  it('keeps the sums of gas receipt by receipt', async () => {
    const answer = await toAmsterdam(source.block('forks', 22869878));
    const prover = await getProver('ethereum_mainnet');
    answer.receipts![5]!.gasUsed = flipped(answer.receipts![5]!.gasUsed);
    expect(thrown(() => prover.proveBlock(answer))).toMatchObject({
      data: { field: 'receipts[5].cumulativeGasUsed' },
    });
  });
});
