import { gethError, toCallFrame, tracesByTransaction } from './debug-traces.js';
import type { RecordedBlock, RpcObject, RpcTrace } from './recorded-block.js';
import type { AnswerPart } from './served-chain.js';
import { SLOT, signatureSlot, TextTemplate, transactionHashSlot } from './text-template.js';

/** Which of a block's fields become slots. */
interface SlotPolicy {
  /** Number, hash and what else changes with a block's place in a chain. */
  place: boolean;
  /** Each transaction's hash and signature. */
  transactions: boolean;
}

/** Slots by field name; a field that a record lacks, or that is null, stays as it is. */
type Rules = Readonly<Record<string, number>>;

const HEADER: Rules = {
  hash: SLOT.hash,
  parentHash: SLOT.parentHash,
  number: SLOT.number,
  timestamp: SLOT.timestamp,
  totalDifficulty: SLOT.totalDifficulty,
  size: SLOT.size,
  mixHash: SLOT.mixHash,
};
const RECORD: Rules = { blockHash: SLOT.hash, blockNumber: SLOT.number, blockTimestamp: SLOT.timestamp };

/** Writes the answers about one recorded block as templates, each when it is first asked for. */
export class BlockTemplates {
  private readonly made = new Map<AnswerPart, TextTemplate | undefined>();

  constructor(
    readonly record: RecordedBlock,
    private readonly policy: SlotPolicy,
  ) {}

  /** The template of one answer; undefined if it was not recorded. */
  get(part: AnswerPart): TextTemplate | undefined {
    if (!this.made.has(part)) this.made.set(part, this.make(part));
    return this.made.get(part);
  }

  private make(part: AnswerPart): TextTemplate | undefined {
    const { block } = this.record;
    // A block without transactions has nothing to give receipts and traces for, recorded or not.
    const empty = block.transactions.length === 0 ? [] : undefined;
    if (part === 'block' || part === 'blockWithHashes') return this.writeBlock(part === 'block');
    if (part === 'receipts') return this.writeReceipts(this.record.receipts ?? empty);
    const traces = this.record.traces ?? empty;
    if (part === 'traces') return this.writeTraces(traces);
    return this.writeDebug(traces, part);
  }

  private writeBlock(full: boolean): TextTemplate {
    const { block } = this.record;
    const out = new TextTemplate();
    const rules: Rules = this.policy.place
      ? { ...HEADER, ...(this.policy.transactions ? { transactionsRoot: SLOT.transactionsRoot } : {}) }
      : {};
    writeObject(out, block, rules, (name) => {
      if (name !== 'transactions') return false;
      writeArray(out, block.transactions, (transaction, index) => {
        if (!full) this.writeHash(out, transaction.hash, index);
        else this.writeTransaction(out, transaction, index);
      });
      return true;
    });
    return out;
  }

  private writeTransaction(out: TextTemplate, transaction: RpcObject, index: number): void {
    writeObject(out, transaction, this.rules(index, 'hash'), (name, value) => {
      if (name !== 'r' || !this.policy.transactions || !canVary(transaction)) return false;
      out
        .text(`"${String(value).slice(0, -16)}`)
        .slot(signatureSlot(index))
        .text('"');
      return true;
    });
  }

  private writeHash(out: TextTemplate, hash: string, index: number): void {
    if (this.policy.transactions) out.text('"').slot(transactionHashSlot(index)).text('"');
    else out.text(`"${hash}"`);
  }

  private writeReceipts(receipts: RecordedBlock['receipts']): TextTemplate | undefined {
    if (receipts === undefined) return undefined;
    const out = new TextTemplate();
    writeArray(out, receipts, (receipt, index) => {
      const rules = this.rules(index, 'transactionHash');
      writeObject(out, receipt, rules, (name) => {
        if (name !== 'logs') return false;
        out.text('[');
        receipt.logs.forEach((log, at) => {
          if (at > 0) out.text(',');
          writeObject(out, log, rules);
        });
        out.text(']');
        return true;
      });
    });
    return out;
  }

  private writeTraces(traces: RecordedBlock['traces']): TextTemplate | undefined {
    if (traces === undefined) return undefined;
    const out = new TextTemplate();
    writeArray(out, traces, (trace) => this.writeTrace(out, trace));
    return out;
  }

  private writeTrace(out: TextTemplate, trace: RpcTrace): void {
    const rules =
      trace.transactionPosition == null
        ? this.rules()
        : this.rules(trace.transactionPosition, 'transactionHash');
    writeObject(out, trace, rules, (name, value) => {
      // Parity and its kin number a trace's block in decimal.
      if (name !== 'blockNumber' || typeof value !== 'number' || !this.policy.place) return false;
      out.slot(SLOT.numberDecimal);
      return true;
    });
  }

  private writeDebug(traces: RecordedBlock['traces'], part: AnswerPart): TextTemplate | undefined {
    if (traces === undefined) return undefined;
    const out = new TextTemplate();
    writeArray(out, tracesByTransaction(traces), (group) => {
      const root = group[0] as RpcTrace;
      out.text('{"txHash":');
      this.writeHash(out, String(root.transactionHash), Number(root.transactionPosition));
      out.text(',"result":');
      if (part === 'debugCall') out.text(JSON.stringify(toCallFrame(group)));
      else {
        out.text('[');
        group.forEach((trace, at) => {
          if (at > 0) out.text(',');
          const reworded = part === 'debugFlat' && trace.error !== undefined;
          this.writeTrace(out, reworded ? { ...trace, error: gethError(String(trace.error)) } : trace);
        });
        out.text(']');
      }
      out.text('}');
    });
    return out;
  }

  private rules(index?: number, hashField?: string): Rules {
    if (!this.policy.place) return {};
    if (!this.policy.transactions || index === undefined || hashField === undefined) return RECORD;
    return { ...RECORD, [hashField]: transactionHashSlot(index) };
  }
}

/** Whether a transaction's signature value `r` is long enough to have its last 16 digits replaced. */
export function canVary(transaction: RpcObject): boolean {
  return typeof transaction.r === 'string' && transaction.r.length > 20;
}

function writeArray<T>(
  out: TextTemplate,
  items: readonly T[],
  write: (item: T, index: number) => void,
): void {
  out.text('[');
  items.forEach((item, index) => {
    if (index > 0) out.text(',');
    out.item(() => write(item, index));
  });
  out.text(']');
}

/** Writes an object field by field: `special` may write a value itself, else a rule's slot, else the value. */
function writeObject(
  out: TextTemplate,
  object: RpcObject,
  rules: Rules,
  special?: (name: string, value: unknown) => boolean,
): void {
  out.text('{');
  let first = true;
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue;
    out.text(`${first ? '' : ','}${JSON.stringify(name)}:`);
    first = false;
    if (special?.(name, value)) continue;
    const slot = rules[name];
    if (slot === undefined || value === null) out.text(JSON.stringify(value));
    else out.text('"').slot(slot).text('"');
  }
  out.text('}');
}
