import { isAscii } from 'node:buffer';
import { PROOFS, type Prover, type RawBlock } from '@packhouse/chain';
import { outlineAnswer } from '@packhouse/kernels';
import type { RawAnswer } from './cases.js';
import type { Scan, Scanned } from './judge.js';

/** The scanner of a prover, given the bytes as `node-rpc` cuts them out of a node's answers. */
export function getScanner(prover: Prover): Scan {
  return ({ block, receipts, traces }: RawAnswer): Scanned => {
    if (![block, receipts, traces].every((part) => part === undefined || isAscii(part))) {
      return { declined: 'not ASCII' };
    }
    const parts = divide(block);
    if (parts === undefined) return { declined: 'outline' };
    const raw: RawBlock = {
      ...parts,
      ...(receipts === undefined ? {} : { receipts: within(receipts) }),
      ...(traces === undefined ? {} : { traces: within(traces) }),
    };
    const found = prover.proveRaw(raw, { suspected: true });
    if (typeof found === 'string') return { declined: found };
    const { senders, texts, ...facts } = found;
    try {
      if (senders !== undefined) facts.proofs.push(...prover.proveSenders(found.number, senders));
    } catch (error) {
      return { refused: (error as Error).message };
    }
    facts.proofs = PROOFS.filter((proof) => facts.proofs.includes(proof));
    const { blockHead, blockTail, ...others } = texts;
    const bytes = (text: string) => Buffer.from(text, 'latin1');
    return { block: facts, texts: { ...others, blockHead: bytes(blockHead), blockTail: bytes(blockTail) } };
  };
}

const BEFORE = '{"jsonrpc":"2.0","id":1,"result":';

/** The value of `result` in an envelope around it; undefined if its outline is not clear. */
function outlined(value: Buffer) {
  const envelope = Buffer.concat([Buffer.from(BEFORE), value, Buffer.from('}')]);
  const result = outlineAnswer(envelope)?.member('result');
  return result === undefined ? undefined : { envelope, result };
}

/** A block without its transactions, parsed, and their bytes. */
function divide(block: Buffer): { header: RawBlock['header']; transactions: Buffer } | undefined {
  const found = outlined(block);
  const transactions = found?.result.member('transactions');
  if (found === undefined || transactions?.objects == null) return undefined;
  const { envelope, result } = found;
  const before = envelope.toString('latin1', result.start, transactions.start);
  const behind = envelope.toString('latin1', transactions.end, result.end);
  try {
    const header = JSON.parse(`${before}[]${behind}`) as RawBlock['header'];
    return { header, transactions: envelope.subarray(transactions.start, transactions.end) };
  } catch {
    return undefined;
  }
}

/** A list without white space around it; what has no outline is left to the scanner as it is. */
function within(list: Buffer): Buffer {
  const found = outlined(list);
  return found === undefined ? list : found.envelope.subarray(found.result.start, found.result.end);
}
