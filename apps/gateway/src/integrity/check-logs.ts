import type { BareBlock, Prover } from '@packhouse/chain';
import type { Disproof } from '@packhouse/node-rpc';
import { getOrAdd } from '@packhouse/runtime';
import type { LogFilter } from '../rpc/log-filter.js';
import { missingBlock } from './block-evidence.js';

/** Logs of a block, in order. */
export type BlockLogs = readonly Receipt[];

/** What the check of logs asks of the network. */
interface LogEvidence extends Pick<Prover, 'getBloom'> {
  /** A proved header; undefined if no node has it. */
  getHeader(at: string): Promise<BareBlock | undefined>;
  /** All logs of a block, proved; undefined if no node has them, null if the rules of the block do not prove them. */
  getLogs(header: BareBlock): Promise<BlockLogs | null | undefined>;
  isFinal(number: number): boolean;
  isBeyondHead(number: number): boolean;
}

/** Fields that all nodes write of a log. */
const COMPARED = [
  'address',
  'data',
  'logIndex',
  'transactionHash',
  'transactionIndex',
  'blockHash',
  'blockNumber',
];

/**
 * Compares a node's logs with those of the blocks (numbers, or one hash) that they are asked of. A block whose header's
 * bloom excludes the filter has none; of every other one the receipts tell which there are.
 */
export async function checkLogs(
  logs: unknown,
  filter: LogFilter,
  blocks: readonly string[],
  evidence: LogEvidence,
): Promise<Disproof | null> {
  if (!Array.isArray(logs)) return { isFalse: true, reason: 'it is not a list of logs' };
  const byBlock = new Map<string, Receipt[]>();
  for (const log of logs as Receipt[]) {
    // A node may send anything, null too.
    const at = filter.blockHash === undefined ? lower(log?.blockNumber) : lower(log?.blockHash);
    if (!blocks.includes(at))
      return { isFalse: true, reason: `a log is of block ${at}, which was not requested` };
    getOrAdd(byBlock, at, () => []).push(log);
  }
  const found = await Promise.all(
    blocks.map((at) => checkBlock(at, byBlock.get(at) ?? [], filter, evidence)),
  );
  const wrong = found.filter((each) => each !== null);
  return wrong.find(({ isFalse }) => isFalse) ?? wrong[0] ?? null;
}

async function checkBlock(
  at: string,
  logs: readonly Receipt[],
  filter: LogFilter,
  evidence: LogEvidence,
): Promise<Disproof | null> {
  const byHash = filter.blockHash ?? lower(logs[0]?.blockHash);
  const header = await evidence.getHeader(byHash === '' ? at : byHash);
  if (header === undefined) {
    if (logs.length === 0 && filter.blockHash === undefined && evidence.isBeyondHead(Number(at))) return null;
    return missingBlock(byHash === '' ? at : byHash);
  }
  const { number, logsBloom } = header;
  // Without its hash a node may know another block of this number.
  const isFalse = byHash !== '' || evidence.isFinal(number);
  if (filter.blockHash === undefined && number !== Number(at)) {
    return { isFalse: true, reason: `block ${header.hash} is not ${Number(at)}, but ${number}` };
  }
  if (logsBloom === null || (logs.length === 0 && !mayHave(logsBloom, filter, evidence))) return null;
  const all = await evidence.getLogs(header);
  if (all === null) return null;
  if (all === undefined)
    return { isFalse: false, reason: `the receipts of block ${number} are not available for the proof` };
  // Of an abandoned block a node may say so.
  const mayBeRemoved = !evidence.isFinal(number);
  const differs = (exact: boolean): string | null => {
    const expected = all.filter((log) => matches(log, filter, exact));
    if (logs.length !== expected.length)
      return `block ${number} has ${expected.length} such logs, not ${logs.length}`;
    const wrong = logs.findIndex((log, index) => !isSame(log, expected[index] as Receipt, mayBeRemoved));
    return wrong === -1 ? null : `log ${wrong} of block ${number} is not what its receipt has`;
  };
  const reason = differs(true);
  return reason === null || differs(false) === null ? null : { isFalse, reason };
}

/** Whether a header's bloom leaves it open that the block has logs of the filter. */
export function mayHave(
  logsBloom: string,
  { address, topics }: LogFilter,
  { getBloom }: Pick<Prover, 'getBloom'>,
): boolean {
  const has = (value: string): boolean => hasBits(logsBloom, getBloom([{ address: value, topics: [] }]));
  return [address ?? null, ...(topics ?? [])].every((any) => any === null || any.some(has));
}

/**
 * Whether a filter, in its canonical form, takes a log. `exact`: a log has as many topics as the filter has places
 * (go-ethereum, eth/filters); otherwise places for any topic may be beyond the log's (Anvil).
 */
function matches(log: Receipt, { address, topics = [] }: LogFilter, exact: boolean): boolean {
  const parts = bloomParts(log);
  if (parts === null || (address !== undefined && !address.includes(parts.address))) return false;
  if (exact && topics.length > parts.topics.length) return false;
  return topics.every((any, at) => any === null || any.includes(parts.topics[at] ?? ''));
}

function isSame(one: Receipt, other: Receipt, mayBeRemoved: boolean): boolean {
  const [mine, theirs] = [bloomParts(one), bloomParts(other)];
  return (
    COMPARED.every((field) => lower(one[field]) === lower(other[field])) &&
    JSON.stringify(mine?.topics) === JSON.stringify(theirs?.topics) &&
    (mayBeRemoved || one.removed !== true)
  );
}

/** A receipt as a node sent it; nothing is known of it. */
export interface Receipt {
  readonly [field: string]: unknown;
}

/**
 * Checks one receipt as far as it can be without the others of its block: it is about this transaction and block, its
 * bloom is that of its logs, and the header's bloom has it. Returns what is wrong.
 */
export function checkReceipt(
  prover: Pick<Prover, 'getBloom'>,
  receipt: Receipt,
  header: BareBlock,
  transaction: string,
): string | null {
  const { logs } = receipt;
  if (lower(receipt.transactionHash) !== transaction) return 'it belongs to another transaction';
  if (Number(receipt.blockNumber) !== header.number) {
    return `block ${header.hash} has the number ${header.number}, not ${String(receipt.blockNumber)}`;
  }
  if (!Array.isArray(logs)) return 'its logs are not a list';
  for (const log of logs as (Receipt | null)[]) {
    if (lower(log?.transactionHash) !== transaction) return 'a log belongs to another transaction';
    if (lower(log?.blockHash) !== header.hash) return 'a log belongs to another block';
  }
  if (header.logsBloom === null) return null;
  const canonical = logs.map(bloomParts);
  if (canonical.includes(null)) return 'a log has an invalid address or topics';
  const bloom = Buffer.from(prover.getBloom(canonical as BloomParts[]));
  if (lower(receipt.logsBloom) !== `0x${bloom.toString('hex')}`)
    return 'its logsBloom does not match its logs';
  if (!hasBits(header.logsBloom, bloom))
    return `the bloom of block ${header.number} does not include its logs`;
  return null;
}

interface BloomParts {
  address: string;
  topics: string[];
}

/** Address and topics of a log in canonical form; null if they are none. */
function bloomParts(log: Receipt): BloomParts | null {
  const address = lower(log.address);
  if (!/^0x[0-9a-f]{40}$/.test(address) || !Array.isArray(log.topics)) return null;
  const topics = (log.topics as unknown[]).map(lower);
  return topics.length <= 4 && topics.every((topic) => /^0x[0-9a-f]{64}$/.test(topic))
    ? { address, topics }
    : null;
}

/** Whether a bloom, as DATA, has all bits of another. */
function hasBits(bloom: string, bits: Uint8Array): boolean {
  const bytes = Buffer.from(bloom.slice(2), 'hex');
  return bits.every((byte, at) => (byte & ~(bytes[at] ?? 0)) === 0);
}

function lower(value: unknown): string {
  return typeof value === 'string' ? value.toLowerCase() : '';
}
