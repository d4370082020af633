import { readFileSync } from 'node:fs';
import {
  ALL,
  CLONE,
  GIVEN,
  type Json,
  type Recorded,
  type RecordingName,
  type Recordings,
} from '@packhouse/recordings';
import { isPackhouseError } from '@packhouse/runtime';
import { beforeAll, describe, expect, it } from 'vitest';
import { toAmsterdam } from '../test/amsterdam.js';
import { ERAS, LIES, type Lies, UNPROVABLE } from '../test/lies.js';
import { getBlockOfOp, otherBlocks, POLICY } from '../test/recorded.js';
import { seal } from '../test/seal.js';
import { flipped, thrown } from '../test/tamper.js';
import { createProver, type Prover } from './create-prover.js';
import type { ProofPolicy } from './prove/proved-block.js';

type Era = keyof typeof ERAS;

interface Truth {
  prover: Prover;
  answer: Recorded;
  text: string;
}

/** All that is written of a block. */
function toText(prover: Prover, { block, receipts, traces }: Recorded): string {
  const proved = prover.proveBlock(receipts === undefined ? { block } : { block, receipts });
  const { texts } = proved;
  const ofTraces = traces === undefined ? '' : prover.proveTraces(proved, traces);
  return [texts.blockHead, texts.transactions, texts.blockTail, texts.receipts, texts.logs, ofTraces].join(
    '',
  );
}

function toBlock(source: Recordings, era: Era): Recorded {
  const { recording, number, ...more } = ERAS[era];
  return 'net' in more ? otherBlocks(source).get(`${more.net} ${number}`)! : source.block(recording, number);
}

/** The object that a row is about: the first of its kind that has the most to lie about. */
function toRecord({ block, receipts, traces }: Recorded, record: string): Json {
  const [kind, type, part] = record.split(' ');
  const ofType = block.transactions.flatMap((tx, index) => (tx.type === type ? [index] : []));
  const index = ofType.find((at) => receipts![at]!.logs.length > 0) ?? ofType[0]!;
  if (kind === 'block') return block;
  if (kind === 'withdrawal') return block.withdrawals![0]!;
  if (kind === 'transaction') return block.transactions[index]!;
  if (kind === 'receipt') return receipts![index]!;
  if (kind === 'log') return receipts![index]!.logs[0]!;
  const trace = traces!.find(({ traceAddress, subtraces, action, result }) => {
    const depth = (traceAddress as unknown[]).length;
    if (type === 'root') return depth === 0 && (subtraces as number) > 1;
    return depth === 1 && action.callType === 'call' && String(result?.output).length > 2;
  })!;
  return (part === undefined ? trace : trace[part]) as Json;
}

const scalars = (record: Json) =>
  Object.keys(record).filter((name) => record[name] === null || typeof record[name] !== 'object');

/** Lies that need more than one field of one record, or a block of another kind; by the reason why they go unseen. */
interface Special {
  because: keyof typeof UNPROVABLE;
  policy?: Partial<ProofPolicy>;
  /** What the truth is made of. */
  recording: RecordingName;
  /** The truth; a fresh copy each time. */
  make(source: Recordings): Recorded | Promise<Recorded>;
  lie(answer: Recorded): void;
}

const flip = (record: Json, name: string) => Object.assign(record, { [name]: flipped(record[name]) });

const isFailedCreation = ({ status, to }: Json) => status === '0x0' && to === null;

/** A block of OP, not sealed yet, whose receipts do not commit to the nonces of deposits. */
function toRegolith(source: Recordings): Recorded {
  const answer = getBlockOfOp(source);
  const [deposit] = answer.block.transactions;
  delete deposit!.nonce;
  for (const record of [deposit!, answer.receipts![0]!]) delete record.depositReceiptVersion;
  return answer;
}

const SPECIAL: readonly Special[] = [
  {
    because: 'uncles',
    recording: 'forks',
    make: (source) => source.block('forks', 4662649),
    lie: ({ block }) => block.uncles.splice(0, 1, flipped(block.uncles[0]) as string),
  },
  {
    because: 'size',
    recording: 'forks',
    make: (source) => source.block('forks', 4662649),
    lie: ({ block }) => flip(block, 'size'),
  },
  {
    because: 'amsterdam',
    recording: 'forks',
    make: (source) => toAmsterdam(source.block('forks', 22869878)),
    lie: ({ block }) => flip(block, 'size'),
  },
  {
    because: 'from',
    recording: 'forks',
    make: (source) => source.block('forks', 22869878),
    lie: ({ block, receipts }) => {
      const index = block.transactions.findIndex(({ to }) => to !== null);
      for (const record of [block.transactions[index]!, receipts![index]!]) flip(record, 'from');
    },
  },
  {
    because: 'unsigned',
    policy: { senders: 'all' },
    recording: 'forks',
    make: (source) => {
      const { receipts: _, ...answer } = source.block('forks', 47218);
      Object.assign(answer.block.transactions[0]!, { r: '0x0', s: '0x0' });
      return seal(answer);
    },
    lie: ({ block }) => flip(block.transactions[0]!, 'from'),
  },
  {
    because: 'chainId',
    recording: 'forks',
    make: (source) => source.block('forks', 12972264),
    lie: ({ block }) => Object.assign(block.transactions.find(({ v }) => v === '0x1b')!, { chainId: '0x5' }),
  },
  {
    because: 'status',
    recording: 'forks',
    make: (source) => source.block('forks', 47218),
    lie: ({ receipts }) => Object.assign(receipts![0]!, { status: '0x0' }),
  },
  {
    because: 'contract',
    recording: 'forks',
    // Sepolia's early blocks have many; those of RECORDINGS have none.
    make: () => CLONE.blocks('sepolia').find(({ receipts }) => receipts!.some(isFailedCreation))!,
    lie: ({ receipts }) => Object.assign(receipts!.find(isFailedCreation)!, { contractAddress: null }),
  },
  {
    because: 'blobGasPrice',
    // Of a chain whose forks are not known.
    policy: { rules: 'ethereum' },
    recording: 'forks',
    make: (source) => source.block('forks', 22431084),
    lie: ({ receipts }) => flip(receipts!.find(({ type }) => type === '0x3')!, 'blobGasPrice'),
  },
  {
    because: 'depositNonce',
    recording: 'optimism',
    make: (source) => seal(toRegolith(source)),
    lie: ({ receipts }) => flip(receipts![0]!, 'depositNonce'),
  },
  {
    because: 'depositGas',
    recording: 'optimism',
    make: (source) => {
      const answer = toRegolith(source);
      delete answer.receipts![0]!.depositNonce;
      return seal(answer);
    },
    lie: ({ receipts }) => flip(receipts![0]!, 'gasUsed'),
  },
  {
    because: 'rewards',
    recording: 'forks',
    make: (source) => source.block('forks', 15537393),
    lie: ({ traces }) => flip(traces!.find(({ type }) => type === 'reward')!.action, 'value'),
  },
];

/** What holds of the lies about some eras, and of others about blocks of the same recordings. */
function tellLies(source: Recordings, eras: readonly Era[]): void {
  const truths = new Map<Era, Truth>();

  beforeAll(async () => {
    for (const era of eras) {
      const prover = await createProver({ ...POLICY, chainId: ERAS[era].chainId });
      const answer = toBlock(source, era);
      truths.set(era, { prover, answer, text: toText(prover, answer) });
    }
  });

  const lies = LIES.filter(({ era }) => eras.includes(era));
  // A test for each kind of record, which tells every lie of the table about it.
  const toName = ({ era, record }: Lies) => `${era}, ${record.split(' ')[0]}`;
  const tests = [...new Set(lies.map(toName))];

  it.each(tests)('%s', (name) => {
    for (const lie of lies.filter((each) => toName(each) === name)) tell(lie);
  });

  function tell({ era, record, how, outcome, because, fields }: Lies): void {
    const { prover, answer, text } = truths.get(era)!;
    const holder = toRecord(answer, record);
    for (const field of fields) {
      const before = { ...holder };
      if (how === 'drop') delete holder[field];
      else holder[field] = flipped(holder[field]);
      let written: string | undefined;
      const error = thrown(() => {
        written = toText(prover, answer);
      });
      // in their order, which nothing depends on, but which a reader of a failure expects
      for (const other of Object.keys(holder)) delete holder[other];
      Object.assign(holder, before);
      if (because !== undefined || outcome === 'written') {
        const unseen = because === undefined ? '' : `, unseen: ${UNPROVABLE[because]}`;
        expect(error, `${record}.${field}${unseen}`).toBe(undefined);
        expect(written === text, `${record}.${field}`).toBe(outcome === 'written');
      } else {
        expect(isPackhouseError(error), `${record}.${field}: ${error}`).toBe(true);
        const { code, data } = error as { code: string; data: Json };
        expect(code === 'RECORD_INVALID' ? 'form' : data.proof, `${record}.${field}`).toBe(outcome);
      }
    }
  }

  it('leave no field of those records out', () => {
    const told = new Map<string, Set<string>>();
    for (const { era, record, how, fields } of lies.filter(({ how }) => how === 'flip')) {
      const key = `${era} ${record} ${how}`;
      told.set(key, new Set([...(told.get(key) ?? []), ...fields]));
    }
    for (const [key, fields] of told) {
      const [era, ...rest] = key.split(' ');
      const { answer } = truths.get(era as Era)!;
      expect([...fields].sort(), key).toEqual(scalars(toRecord(answer, rest.slice(0, -1).join(' '))).sort());
    }
  });

  const recordings = eras.map((era) => ERAS[era].recording as RecordingName);
  const special = SPECIAL.filter(({ recording }) => recordings.includes(recording));
  it.each(special.map((each) => [UNPROVABLE[each.because], each] as const))(
    '%s: a lie goes unseen',
    async (_, { make, lie, policy }) => {
      const prover = await createProver({ ...POLICY, ...policy });
      const answer = await make(source);
      const truth = toText(prover, answer);
      lie(answer);
      expect(toText(prover, answer)).not.toBe(truth);
    },
  );
}

describe.each(ALL)('lies about $title', (source) => tellLies(source, ['shanghai', 'cancun', 'prague']));

describe('lies about a block of OP', () => tellLies(CLONE, ['ecotone']));

describe.skipIf(GIVEN === null)(
  'lies about blocks of OP since Jovian, and of Arbitrum (needs RECORDINGS)',
  () => tellLies(GIVEN ?? CLONE, ['jovian', 'arbitrum']),
);

describe('lies', () => {
  it('that go unseen are those of docs/proofs.md, and no others', () => {
    const page = readFileSync(new URL('../../../docs/proofs.md', import.meta.url), 'utf8');
    const table = page.split('| no proof covers | because |\n|---|---|\n')[1]!.split('\n\n')[0]!;
    const documented = table.split('\n').map((line) => line.split(' | ')[0]!.slice(2));
    const told = [...LIES, ...SPECIAL].flatMap(({ because }) => (because === undefined ? [] : because));
    expect([...new Set(told.map((key) => UNPROVABLE[key]))].sort()).toEqual([...documented].sort());
  });

  it('are many', () => {
    expect(LIES.length).toBeGreaterThan(120);
  });
});
