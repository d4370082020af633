import { canonicalRecord, type Kind, type ProvedBlock, type Prover } from '@packhouse/chain';
import type { AuditReport } from './audit-report.js';
import { checkLinks, type Header, type Links } from './check-links.js';
import { checkTraces, type StreamTraces } from './check-traces.js';
import type { LaneRecord } from './lane.js';
import type { ProverFor } from './provers.js';
import { notCanonical, recordFault, wrongNumber } from './record-faults.js';

export interface BlockCheckParts {
  report: AuditReport;
  proverFor: ProverFor;
  /** Remembers the block before. */
  links: Links;
  /** Reads the traces of a block that are too large to be held. */
  streamTraces: StreamTraces;
}

/** A record that was parsed. */
interface Parsed {
  record: LaneRecord;
  text: string;
  value: unknown;
}

/** What the record of `blocks` gave: the measure of the other kinds. */
interface Measure {
  header: Header;
  value: Record<string, unknown>;
  prover: Prover;
  /** null where the row claims no proofs. */
  proved: ProvedBlock | null;
  /** Whether `proved` holds the receipts too. */
  withReceipts: boolean;
}

const NO_HEADERS = 'no blocks are published (or sound) to check them against';
const NO_RECEIPTS = 'no receipts are published (or sound) to check them against';
const TOO_LARGE = 'a record is too large to be parsed';

/**
 * Checks one block's records of all kinds at hand: form, numbers, hashes and proofs against the header in `blocks`,
 * and the kinds against each other. The header proves itself by its hash, so that where two files disagree the one
 * that the header does not commit to is named.
 */
export async function checkBlock(
  parts: BlockCheckParts,
  number: number,
  records: ReadonlyMap<Kind, LaneRecord>,
): Promise<void> {
  const { report } = parts;
  const blocks = parse(report, records.get('blocks'));
  const receipts = parse(report, records.get('receipts'));
  const measure = blocks === null ? null : await measureOf(parts, number, blocks, receipts);
  if (measure !== null) {
    checkLinks(report, parts.links, measure.header, records);
  }
  if (receipts !== null && !receipts.record.side && !measure?.withReceipts)
    checkReceiptsAlone(report, number, receipts, measure);
  checkTransactions(report, number, records.get('transactions'), measure);
  const soundReceipts = receipts !== null && !report.isDamaged(receipts.record.row) ? receipts : null;
  checkLogs(report, number, records.get('logs'), measure, soundReceipts);
  const traces = records.get('traces');
  if (traces === undefined) return;
  if (measure?.proved == null || !traces.row.proofs.includes('traces')) {
    if (measure?.proved == null) report.unchecked(traces.row, NO_HEADERS);
    checkForm(report, number, parse(report, traces));
    return;
  }
  const { proved, prover } = measure;
  await checkTraces({ report, prover, proved, streamTraces: parts.streamTraces }, number, traces);
}

/** Parses a record; null where there is none, or where it is no JSON, which is said. */
function parse(report: AuditReport, record: LaneRecord | undefined): Parsed | null {
  if (record === undefined) return null;
  if (record.text === null) {
    report.unchecked(record.row, TOO_LARGE);
    return null;
  }
  const text = record.text.toString('latin1');
  try {
    return { record, text, value: JSON.parse(text) as unknown };
  } catch (error) {
    const block = record.number;
    const what = `the record of block ${block} is not JSON: ${(error as Error).message}.`;
    report.fault(record.row, { cause: 'json', what, block });
    return null;
  }
}

/** Proves the block (with its receipts where both are there and claim it) and compares the forms. */
async function measureOf(
  parts: BlockCheckParts,
  number: number,
  blocks: Parsed,
  receipts: Parsed | null,
): Promise<Measure | null> {
  const { report } = parts;
  const { row } = blocks.record;
  const value = blocks.value as Record<string, unknown>;
  if (value?.number !== `0x${number.toString(16)}`) {
    report.fault(row, wrongNumber(number, describeNumber(value?.number)));
    return null;
  }
  const header = { number, hash: String(value.hash), parentHash: String(value.parentHash), row };
  const prover = await parts.proverFor(row);
  if (!row.proofs.includes('transactionsRoot')) {
    checkForm(report, number, blocks);
    return { header, value, prover, proved: null, withReceipts: false };
  }
  const together = receipts?.record.row.proofs.includes('receiptsRoot') === true ? receipts : null;
  let proved: ProvedBlock;
  let withReceipts = together !== null;
  try {
    proved = prover.proveBlock({
      block: value,
      ...(together === null ? {} : { receipts: together.value }),
    });
  } catch (error) {
    if (together === null) {
      report.fault(row, recordFault(number, error));
      return null;
    }
    try {
      proved = prover.proveBlock({ block: value });
    } catch (own) {
      report.fault(row, recordFault(number, own));
      return null;
    }
    report.fault(together.record.row, receiptsFault(number, together.value, error));
    withReceipts = false;
  }
  const { blockHead, transactions, blockTail, receipts: receiptsText } = proved.texts;
  compareForm(report, blocks, blockHead + transactions + blockTail);
  if (withReceipts && together !== null) compareForm(report, together, receiptsText as string);
  return { header, value, prover, proved, withReceipts };
}

function receiptsFault(number: number, value: unknown, error: unknown): ReturnType<typeof recordFault> {
  const other = otherNumber(value, number);
  return other === null ? recordFault(number, error) : wrongNumber(number, other);
}

/** Receipts that could not be proved with their block: at least their form. */
function checkReceiptsAlone(
  report: AuditReport,
  number: number,
  receipts: Parsed,
  measure: Measure | null,
): void {
  if (report.isDamaged(receipts.record.row)) return;
  if (measure?.proved == null) report.unchecked(receipts.record.row, NO_HEADERS);
  checkForm(report, number, receipts);
}

function checkTransactions(
  report: AuditReport,
  number: number,
  record: LaneRecord | undefined,
  measure: Measure | null,
): void {
  const proved = measure?.proved ?? null;
  if (record?.text != null && proved !== null && isText(record.text, proved.texts.transactions)) return;
  const parsed = parse(report, record);
  if (parsed === null || !checkForm(report, number, parsed)) return;
  if (proved === null || measure === null) {
    report.unchecked(parsed.record.row, NO_HEADERS);
    return;
  }
  try {
    // Their bytes differ, which they may: nodes differ in the fields that they add.
    measure.prover.proveBlock({ block: { ...measure.value, transactions: parsed.value } });
  } catch (error) {
    report.fault(parsed.record.row, recordFault(number, error));
  }
}

function checkLogs(
  report: AuditReport,
  number: number,
  record: LaneRecord | undefined,
  measure: Measure | null,
  receipts: Parsed | null,
): void {
  const proved = measure?.proved?.texts.logs;
  if (record?.text != null && measure?.withReceipts && proved !== undefined && isText(record.text, proved))
    return;
  const parsed = parse(report, record);
  if (parsed === null || !checkForm(report, number, parsed)) return;
  if (receipts === null) {
    report.unchecked(parsed.record.row, NO_RECEIPTS);
    return;
  }
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
    report.fault(parsed.record.row, {
      cause: 'logs',
      what: `${differ} (${receipts.record.row.objectKey}).`,
      block: number,
      expected: `${theirs.length} logs`,
      got: `${count} logs`,
    });
  } catch (error) {
    report.fault(receipts.record.row, recordFault(number, error));
  }
}

/** Whether the record is in canonical form and of this block; what is wrong is said. */
function checkForm(report: AuditReport, number: number, parsed: Parsed | null): boolean {
  if (parsed === null) return false;
  const { row } = parsed.record;
  const other = otherNumber(parsed.value, number);
  if (other !== null) {
    report.fault(row, wrongNumber(number, other));
    return false;
  }
  const header = row.proofs.includes('headerHash') ? 'recompute' : 'trust';
  try {
    return compareForm(report, parsed, canonicalRecord(row.kind, parsed.value, { header }));
  } catch (error) {
    report.fault(row, recordFault(number, error));
    return false;
  }
}

function compareForm(report: AuditReport, { record, text }: Parsed, canonical: string): boolean {
  if (text === canonical) return true;
  report.fault(record.row, notCanonical(record.number, canonical, text));
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
