import type { ProvedBlock, Prover, TracedBlock } from '@packhouse/chain';
import type { AuditReport } from './audit-report.js';
import type { LaneRecord } from './lane.js';
import { notCanonical, recordFault } from './record-faults.js';

/** The texts of the elements of a block's array of traces, read from the store bit by bit. */
export type StreamTraces = (record: LaneRecord) => AsyncIterable<Buffer>;

/** Proves a block's traces against its transactions, and their form. */
export async function checkTraces(
  parts: { report: AuditReport; prover: Prover; proved: ProvedBlock; streamTraces: StreamTraces },
  number: number,
  record: LaneRecord,
): Promise<void> {
  const { report, prover } = parts;
  const block = factsFor(parts.proved, record);
  if (record.text === null) return streamed(parts, block, record);
  const text = record.text.toString('latin1');
  try {
    const canonical = prover.proveTraces(block, JSON.parse(text) as unknown);
    if (canonical !== text) report.fault(record.row, notCanonical(number, canonical, text));
  } catch (error) {
    report.fault(record.row, faultOf(number, error));
  }
}

/** Giant traces, one at a time. */
async function streamed(
  { report, prover, streamTraces }: { report: AuditReport; prover: Prover; streamTraces: StreamTraces },
  block: TracedBlock,
  record: LaneRecord,
): Promise<void> {
  const { number, row } = record;
  const proof = prover.traceProver(block);
  for await (const bytes of streamTraces(record)) {
    const text = bytes.toString('latin1');
    let canonical: string;
    try {
      canonical = proof.push(JSON.parse(text) as unknown);
    } catch (error) {
      return report.fault(row, faultOf(number, error));
    }
    if (canonical !== text) return report.fault(row, notCanonical(number, canonical, text));
  }
  try {
    proof.finish();
  } catch (error) {
    report.fault(row, faultOf(number, error));
  }
}

/** Without what receipts say of transactions, where the traces were published without receipts beside them. */
function factsFor(proved: ProvedBlock, { row }: LaneRecord): TracedBlock {
  if (row.proofs.includes('receiptsRoot')) return proved;
  const transactions = proved.transactions.map(({ success: _, contractAddress: __, ...facts }) => facts);
  return { number: proved.number, hash: proved.hash, transactions };
}

function faultOf(number: number, error: unknown): ReturnType<typeof recordFault> {
  if (!(error instanceof SyntaxError)) return recordFault(number, error);
  return {
    cause: 'json',
    what: `the record of block ${number} is not JSON: ${error.message}.`,
    block: number,
  };
}
