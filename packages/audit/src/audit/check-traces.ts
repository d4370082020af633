import type { ProvedBlock, Prover, TracedBlock } from '@packhouse/chain';
import type { AuditReport } from './audit-report.js';
import { type Fault, isDoubtful, notCanonical, notJson, recordFault } from './finding.js';
import type { BundleRecord } from './read-bundles.js';

/** The texts of a block's traces, one by one as they are read from the store. */
export type StreamTraces = (record: BundleRecord) => AsyncIterable<Buffer>;

interface TraceCheckParts {
  report: AuditReport;
  prover: Prover;
  proved: ProvedBlock;
  streamTraces: StreamTraces;
  /** Reports the block of which the traces show that it is false. */
  blameBlock(error: unknown): void;
}

/** Checks a block's traces against its transactions, and their form. */
export async function checkTraces(
  parts: TraceCheckParts,
  number: number,
  record: BundleRecord,
): Promise<void> {
  const { report, prover } = parts;
  const block = factsFor(parts.proved, record);
  if (record.text === null) return streamed(parts, block, record);
  const text = record.text.toString('latin1');
  try {
    const canonical = prover.proveTraces(block, JSON.parse(text) as unknown, { published: true });
    if (canonical !== text) report.fault(record.row, notCanonical(number, canonical, text));
  } catch (error) {
    blame(parts, record, error);
  }
}

/** Reports the record that an error of the prover is about. */
function blame({ report, blameBlock }: TraceCheckParts, { number, row }: BundleRecord, error: unknown): void {
  if (isDoubtful(error, 'blocks')) blameBlock(error);
  if (!isDoubtful(error, 'blocks') || isDoubtful(error, 'traces')) report.fault(row, toFault(number, error));
}

/** Traces that are too large for memory, one at a time. */
async function streamed(parts: TraceCheckParts, block: TracedBlock, record: BundleRecord): Promise<void> {
  const { report, prover, streamTraces } = parts;
  const { number, row } = record;
  const proof = prover.traceProver(block, { published: true });
  for await (const bytes of streamTraces(record)) {
    const text = bytes.toString('latin1');
    let canonical: string;
    try {
      canonical = proof.push(JSON.parse(text) as unknown);
    } catch (error) {
      return blame(parts, record, error);
    }
    if (canonical !== text) return report.fault(row, notCanonical(number, canonical, text));
  }
  try {
    proof.finish();
  } catch (error) {
    blame(parts, record, error);
  }
}

/** The facts that traces are checked against: none of receipts, or none of logs, if the file does not say so. */
function factsFor(proved: ProvedBlock, { row }: BundleRecord): TracedBlock {
  if (row.proofs.includes('logAddresses')) return proved;
  const withReceipts = row.proofs.includes('receiptsRoot');
  const transactions = proved.transactions.map(({ logAddresses: _, success, contractAddress, ...facts }) => ({
    ...facts,
    ...(withReceipts && success !== undefined ? { success } : {}),
    ...(withReceipts && contractAddress !== undefined ? { contractAddress } : {}),
  }));
  const { number, hash, getSigner } = proved;
  return { number, hash, transactions, getSigner };
}

function toFault(number: number, error: unknown): Fault {
  return error instanceof SyntaxError ? notJson(number, error) : recordFault(number, error);
}
