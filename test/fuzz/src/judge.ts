import type { Prover } from '@packhouse/chain';
import { PROOFS, type ProvedBlock, traceProofs } from '@packhouse/chain';
import type { RawAnswer } from './cases.js';

/** A block's canonical texts as bytes. */
interface Texts {
  blockHead: Buffer;
  transactions: Buffer;
  blockTail: Buffer;
  receipts?: Buffer;
  logs?: Buffer;
  traces?: Buffer;
}

/** What is said of a block beside its texts. */
type Facts = Omit<ProvedBlock, 'getSigner' | 'texts' | 'transactions'>;

interface Accepted {
  block: Facts;
  texts: Texts;
}

/** What the scanner says: the block is proved, something of it is false, or it is not for it to say. */
export type Scanned = Accepted | { refused: string } | { declined: string };

/** The scanner, or what stands in for it. */
export type Scan = (raw: RawAnswer) => Scanned;

/** Both said the same; the scanner declined what the prover accepts; both refused; or why they disagree. */
export type Verdict = 'accepted' | 'declined' | 'refused' | { disagreement: string };

/** Compares the scanner with the prover. `asks`: the prover is asked also about what the scanner declined. */
export function judge(scan: Scan, prover: Prover, raw: RawAnswer, asks: boolean): Verdict {
  let scanned: Scanned;
  try {
    scanned = scan(raw);
  } catch (error) {
    return { disagreement: `the scanner threw ${describe(error)}` };
  }
  const isDeclined = 'declined' in scanned;
  if (isDeclined && !asks) return 'declined';
  let proved: Accepted;
  try {
    proved = prove(prover, raw);
  } catch (error) {
    if (isDeclined || 'refused' in scanned) return 'refused';
    return { disagreement: `the scanner accepted what the prover refuses: ${describe(error)}` };
  }
  if ('refused' in scanned) {
    return { disagreement: `the scanner found what the prover accepts: ${scanned.refused}` };
  }
  if ('declined' in scanned) return 'declined';
  const difference = getDifference(proved, scanned);
  return difference === undefined ? 'accepted' : { disagreement: difference };
}

/** The prover's word about the same bytes. Throws whatever JSON.parse and the prover throw. */
export function prove(prover: Prover, raw: RawAnswer): Accepted {
  const parsed = (part: Buffer): unknown => JSON.parse(part.toString('utf8'));
  const answer = {
    block: parsed(raw.block),
    ...(raw.receipts === undefined ? {} : { receipts: parsed(raw.receipts) }),
  };
  const block = prover.proveBlock(answer, { suspected: true });
  const { texts } = block;
  const bytes = (text: string) => Buffer.from(text, 'latin1');
  const own: Texts = {
    blockHead: bytes(texts.blockHead),
    transactions: bytes(texts.transactions),
    blockTail: bytes(texts.blockTail),
    ...(texts.receipts === undefined ? {} : { receipts: bytes(texts.receipts) }),
    ...(texts.logs === undefined ? {} : { logs: bytes(texts.logs) }),
    ...(raw.traces === undefined ? {} : { traces: bytes(prover.proveTraces(block, parsed(raw.traces))) }),
  };
  const passed = raw.traces === undefined ? block.proofs : [...block.proofs, ...traceProofs(block)];
  return { block: { ...block, proofs: PROOFS.filter((proof) => passed.includes(proof)) }, texts: own };
}

const FACTS = [
  'number',
  'hash',
  'parentHash',
  'timestamp',
  'difficulty',
  'totalDifficulty',
  'proofs',
  'notProved',
  'unknownFields',
  'missing',
  'corrected',
] as const;
const TEXTS = ['blockHead', 'transactions', 'blockTail', 'receipts', 'logs', 'traces'] as const;

function getDifference(proved: Accepted, scanned: Accepted): string | undefined {
  for (const name of TEXTS) {
    const expected = proved.texts[name];
    const got = scanned.texts[name];
    if (expected === undefined ? got === undefined : got !== undefined && expected.equals(got)) continue;
    return `the text of ${name} differs ${firstDifference(expected, got)}`;
  }
  for (const name of FACTS) {
    const difference = unequal(proved.block[name], scanned.block[name]);
    if (difference !== undefined) return `${name} is ${difference}`;
  }
  return undefined;
}

function unequal(expected: unknown, got: unknown): string | undefined {
  const [one, other] = [JSON.stringify(expected), JSON.stringify(got)];
  return one === other ? undefined : `${other ?? 'absent'}, expected ${one ?? 'nothing'}`;
}

function firstDifference(expected: Buffer | undefined, got: Buffer | undefined): string {
  if (expected === undefined || got === undefined)
    return `: expected ${expected === undefined ? 'none' : 'one'}, got ${got === undefined ? 'none' : 'one'}`;
  let at = 0;
  while (at < expected.length && expected[at] === got[at]) at++;
  const around = (text: Buffer) => text.subarray(Math.max(0, at - 60), at + 60).toString('latin1');
  return `at byte ${at} of ${expected.length}: expected …${around(expected)}…, got …${around(got)}… (${got.length} bytes)`;
}

const describe = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message.slice(0, 300)}` : String(error);
