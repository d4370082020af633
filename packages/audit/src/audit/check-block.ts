import { canonicalRecord, type Kind, type ProvedBlock, type Prover, toQuantity } from '@packhouse/chain';
import type { BundleRow } from '@packhouse/database';
import { isPackhouseError } from '@packhouse/runtime';
import type { AuditReport } from './audit-report.js';
import { checkLinks, type Header, type Links } from './check-links.js';
import { checkTraces, type StreamTraces } from './check-traces.js';
import { type Fault, isDoubtful, notCanonical, notJson, recordFault, wrongNumber } from './finding.js';
import type { BundleRecord } from './read-bundles.js';

/** The prover of a bundle's blocks: makes the proofs that its row claims and the network's policy still requires. */
export type ProverFor = (row: BundleRow) => Promise<Prover>;

interface BlockCheckParts {
  report: AuditReport;
  proverFor: ProverFor;
  /** Keeps the block before. */
  links: Links;
  /** Reads the traces of a block that are too large for memory. */
  streamTraces: StreamTraces;
}

/** A record that was parsed. */
interface Parsed extends BundleRecord {
  json: string;
  value: unknown;
}

/** The record of `blocks`; the other kinds are checked against it. */
interface Measure {
  header: Header;
  value: Record<string, unknown>;
  prover: Prover;
  /** null if the row claims no proofs. */
  proved: ProvedBlock | null;
  /** Whether `proved` includes the receipts. */
  withReceipts: boolean;
  /** Parsed, if `withReceipts`. */
  receipts: unknown;
}

const NO_HEADERS = 'no blocks are published (or sound) to check them against';
const NO_WITHDRAWALS = 'the withdrawals are missing that its header says it has';
const NO_RECEIPTS = 'no receipts are published (or sound) to check them against';
const TOO_LARGE = 'a record is too large to be parsed';

/**
 * Checks one block's records of all available kinds: form, numbers, hashes and proofs against the header in `blocks`,
 * and the kinds against each other. The header is proved by its hash: if two files disagree, the one that the header
 * does not commit to is reported, and of two senders the one who did not sign.
 */
export async function checkBlock(
  parts: BlockCheckParts,
  number: number,
  records: ReadonlyMap<Kind, BundleRecord>,
): Promise<void> {
  const { report } = parts;
  const blocks = parse(report, records.get('blocks'));
  const receipts = parse(report, records.get('receipts'));
  const transactions = records.get('transactions');
  const measure = blocks === null ? null : await getMeasure(parts, blocks, receipts, transactions);
  if (measure !== null) checkLinks(report, parts.links, measure.header, records);
  if (receipts !== null && !receipts.side && !measure?.withReceipts)
    checkReceiptsAlone(report, receipts, measure);
  checkTransactions(report, transactions, measure);
  const soundReceipts = receipts !== null && !report.isDamaged(receipts.row) ? receipts : null;
  checkLogs(report, records.get('logs'), measure, soundReceipts);
  const traces = records.get('traces');
  if (traces === undefined) return;
  if (measure?.proved == null || !traces.row.proofs.includes('traces')) {
    if (measure?.proved == null) report.unchecked(traces.row, NO_HEADERS);
    checkForm(report, parse(report, traces));
    return;
  }
  const { proved, prover } = measure;
  const blameBlock = (error: unknown): void => {
    if (blocks !== null) blockFault(report, blocks, transactions, error);
  };
  await checkTraces({ report, prover, proved, streamTraces: parts.streamTraces, blameBlock }, number, traces);
}

/** Parses a record; null if there is none. If it is no JSON, reports that and returns null. */
function parse(report: AuditReport, record: BundleRecord | undefined): Parsed | null {
  if (record === undefined) return null;
  if (record.text === null) {
    report.unchecked(record.row, TOO_LARGE);
    return null;
  }
  const json = record.text.toString('latin1');
  try {
    return { ...record, json, value: JSON.parse(json) as unknown };
  } catch (error) {
    report.fault(record.row, notJson(record.number, error as Error));
    return null;
  }
}

/** Proves the block (with its receipts if both are there and claim it) and compares the forms. */
async function getMeasure(
  parts: BlockCheckParts,
  blocks: Parsed,
  receipts: Parsed | null,
  ofTransactions: BundleRecord | undefined,
): Promise<Measure | null> {
  const { report } = parts;
  const { number, row } = blocks;
  const value = blocks.value as Record<string, unknown>;
  if (value?.number !== toQuantity(number)) {
    report.fault(row, wrongNumber(number, describeNumber(value?.number)));
    return null;
  }
  const header = { number, hash: String(value.hash), parentHash: String(value.parentHash), row };
  const prover = await parts.proverFor(row);
  if (!row.proofs.includes('transactionsRoot')) {
    checkForm(report, blocks);
    return { header, value, prover, proved: null, withReceipts: false, receipts: undefined };
  }
  let together = receipts?.row.proofs.includes('receiptsRoot') === true ? receipts : null;
  let proved: ProvedBlock;
  try {
    proved = prover.proveBlock({
      block: value,
      ...(together === null ? {} : { receipts: together.value }),
    });
  } catch (error) {
    if (together === null) {
      blockFault(report, blocks, ofTransactions, error);
      return null;
    }
    const foreign = otherNumber(together.value, number) !== null;
    if (isDoubtful(error, 'blocks') && !foreign) {
      blockFault(report, blocks, ofTransactions, error);
      if (isDoubtful(error, 'receipts')) report.fault(together.row, recordFault(number, error));
      return null;
    }
    try {
      proved = prover.proveBlock({ block: value });
    } catch (own) {
      blockFault(report, blocks, ofTransactions, own);
      return null;
    }
    report.fault(together.row, receiptsFault(together, error));
    together = null;
  }
  if (proved.missing.includes('withdrawals')) report.unchecked(row, NO_WITHDRAWALS);
  const { blockHead, transactions, blockTail, receipts: receiptsText } = proved.texts;
  compareForm(report, blocks, blockHead + transactions + blockTail);
  if (together !== null) compareForm(report, together, receiptsText as string);
  return { header, value, prover, proved, withReceipts: together !== null, receipts: together?.value };
}

/** Reports a false block, and the file of its transactions if one of them is false and that file holds the same. */
function blockFault(
  report: AuditReport,
  { row, number, value }: Parsed,
  transactions: BundleRecord | undefined,
  error: unknown,
): void {
  report.fault(row, recordFault(number, error));
  const field = isPackhouseError(error) ? String(error.data.field) : '';
  if (transactions?.text == null || !field.startsWith('transactions[')) return;
  const same = canonicalRecord('transactions', (value as { transactions?: unknown }).transactions);
  if (isText(transactions.text, same)) report.fault(transactions.row, recordFault(number, error));
}

function receiptsFault({ value, number }: Parsed, error: unknown): Fault {
  const other = otherNumber(value, number);
  return other === null ? recordFault(number, error) : wrongNumber(number, other);
}

/** Receipts that could not be proved with their block: at least their form. */
function checkReceiptsAlone(report: AuditReport, receipts: Parsed, measure: Measure | null): void {
  if (report.isDamaged(receipts.row)) return;
  if (measure?.proved == null) report.unchecked(receipts.row, NO_HEADERS);
  checkForm(report, receipts);
}

function checkTransactions(
  report: AuditReport,
  record: BundleRecord | undefined,
  measure: Measure | null,
): void {
  const proved = measure?.proved ?? null;
  if (record?.text != null && proved !== null && isText(record.text, proved.texts.transactions)) return;
  const parsed = parse(report, record);
  if (parsed === null || !checkForm(report, parsed)) return;
  if (proved === null || measure === null) {
    report.unchecked(parsed.row, NO_HEADERS);
    return;
  }
  try {
    // Their bytes may differ: nodes add different fields.
    const block = { ...measure.value, transactions: parsed.value };
    const { receipts } = measure;
    measure.prover.proveBlock(receipts === undefined ? { block } : { block, receipts });
  } catch (error) {
    report.fault(parsed.row, recordFault(parsed.number, error));
  }
}

function checkLogs(
  report: AuditReport,
  record: BundleRecord | undefined,
  measure: Measure | null,
  receipts: Parsed | null,
): void {
  const proved = measure?.proved?.texts.logs;
  if (record?.text != null && measure?.withReceipts && proved !== undefined && isText(record.text, proved))
    return;
  const parsed = parse(report, record);
  if (parsed === null || !checkForm(report, parsed)) return;
  if (receipts === null) {
    report.unchecked(parsed.row, NO_RECEIPTS);
    return;
  }
  const { number, row } = parsed;
  const theirs = (receipts.value as { logs?: unknown[] }[]).flatMap((receipt) => receipt?.logs ?? []);
  const plain = (value: unknown): string => canonicalRecord('logs', value, { extraFields: 'drop' });
  try {
    const [expected, got] = [plain(theirs), plain(parsed.value)];
    if (expected === got) return;
    const count = (parsed.value as unknown[]).length;
    const differ =
      count === theirs.length
        ? `the ${count} logs of block ${number} differ from those in its receipts`
        : `block ${number} has ${count} logs, but its receipts have ${theirs.length}`;
    report.fault(row, {
      cause: 'logs',
      what: `${differ} (${receipts.row.objectKey}).`,
      block: number,
      expected: `${theirs.length} logs`,
      got: `${count} logs`,
    });
  } catch (error) {
    report.fault(receipts.row, recordFault(number, error));
  }
}

/** Whether the record is in canonical form and of its block; if not, that is reported. */
function checkForm(report: AuditReport, parsed: Parsed | null): boolean {
  if (parsed === null) return false;
  const { number, row, value } = parsed;
  const other = otherNumber(value, number);
  if (other !== null) {
    report.fault(row, wrongNumber(number, other));
    return false;
  }
  const header = row.proofs.includes('headerHash') ? 'recompute' : 'trust';
  try {
    return compareForm(report, parsed, canonicalRecord(row.kind, value, { header, published: true }));
  } catch (error) {
    report.fault(row, recordFault(number, error));
    return false;
  }
}

function compareForm(report: AuditReport, { number, row, json }: Parsed, canonical: string): boolean {
  if (json === canonical) return true;
  report.fault(row, notCanonical(number, canonical, json));
  return false;
}

/** The number of another block that one of these records names. */
function otherNumber(value: unknown, number: number): string | null {
  if (!Array.isArray(value)) return null;
  for (const item of value as ({ blockNumber?: unknown } | null)[]) {
    const named = item?.blockNumber;
    if (named !== undefined && Number(named) !== number) return describeNumber(named);
  }
  return null;
}

function describeNumber(value: unknown): string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? String(number) : 'unknown number';
}

function isText(bytes: Buffer, text: string): boolean {
  return bytes.length === text.length && bytes.toString('latin1') === text;
}
