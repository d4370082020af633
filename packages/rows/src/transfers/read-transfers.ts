import type { Kind } from '@packhouse/chain';
import type { CodedBatch } from '../records/coded-column.js';
import { fieldsOf, toSchema } from '../records/read-columns.js';
import type { RowBatch, Schema } from '../records/schema.js';
import {
  createNativeTransfers,
  TRACE_PART,
  WITHDRAWAL_PART,
  withdrawalTransfers,
} from './native-transfers.js';
import { LOG_PART, tokenTransfers } from './token-transfers.js';
import { type Transfer, toTransferRows } from './transfer.js';

/** Rows of a batch, or more if a block has more. */
const BATCH_ROWS = 1_024;

/** What transfers are in: the schemas to read the rows of these kinds with. */
export const TRANSFER_PARTS: Readonly<Record<'logs' | 'traces' | 'blocks', Schema>> = {
  logs: LOG_PART,
  traces: TRACE_PART,
  blocks: WITHDRAWAL_PART,
};

/** The table of a kind, read along with what transfers are in: both are made of the same rows. */
export function withTransferParts(kind: Kind): Schema {
  const part = kind in TRANSFER_PARTS ? TRANSFER_PARTS[kind as keyof typeof TRANSFER_PARTS] : null;
  const names = new Set(fieldsOf({ kind }).map(({ name }) => name));
  const also = part === null ? [] : fieldsOf(part).filter(({ name }) => !names.has(name));
  return also.length === 0 ? toSchema(kind) : toSchema(kind, { also });
}

/** Rows of the same blocks, whole blocks in ascending order; a kind may be left out. */
export type TransferSources = Partial<
  Record<keyof typeof TRANSFER_PARTS, AsyncIterable<CodedBatch> | Iterable<CodedBatch>>
>;

/** The transfers of a block that are in one kind. */
interface Group {
  block: number;
  transfers: Transfer[];
}

/**
 * The transfers of blocks: by block, then by transaction, in it native ones of traces first, then by log; withdrawals at
 * the end of their block. If a block has logs of native transfers (EIP-7708) they are taken and its traces are not, so
 * none is there twice.
 */
export async function* readTransfers(
  { logs, traces, blocks }: TransferSources,
  chainId: number,
): AsyncGenerator<RowBatch, void, undefined> {
  const groups = {
    logs: byBlock(logs, tokenTransfers),
    traces: byBlock(traces, createNativeTransfers()),
    withdrawals: byBlock(blocks, withdrawalTransfers),
  };
  const read = async (of: keyof typeof groups): Promise<Group | null> => (await groups[of].next()).value;
  try {
    const next = {
      logs: await read('logs'),
      traces: await read('traces'),
      withdrawals: await read('withdrawals'),
    };
    let found: Transfer[] = [];
    for (;;) {
      const block = Math.min(...Object.values(next).map((group) => group?.block ?? Number.POSITIVE_INFINITY));
      if (block === Number.POSITIVE_INFINITY) break;
      const take = async (of: keyof typeof groups): Promise<Transfer[]> => {
        const group = next[of];
        if (group?.block !== block) return [];
        next[of] = await read(of);
        return group.transfers;
      };
      const ofLogs = await take('logs');
      const ofTraces = await take('traces');
      const native = ofLogs.some(({ standard }) => standard === 'native') ? [] : ofTraces;
      for (const each of [...native, ...ofLogs].sort(byTransaction)) found.push(each);
      for (const each of await take('withdrawals')) found.push(each);
      if (found.length >= BATCH_ROWS) {
        yield toTransferRows(found, chainId);
        found = [];
      }
    }
    if (found.length > 0) yield toTransferRows(found, chainId);
  } finally {
    for (const group of Object.values(groups)) await group.return(null);
  }
}

function byTransaction(a: Transfer, b: Transfer): number {
  if (a.transactionIndex === b.transactionIndex) return 0;
  if (a.transactionIndex === null) return 1;
  return b.transactionIndex === null ? -1 : a.transactionIndex - b.transactionIndex;
}

/** Yields the blocks that have transfers. */
async function* byBlock(
  batches: TransferSources['logs'],
  transfersOf: (batch: CodedBatch) => Generator<Transfer>,
): AsyncGenerator<Group, null, undefined> {
  for await (const batch of batches ?? []) {
    let group: Group = { block: -1, transfers: [] };
    for (const transfer of transfersOf(batch)) {
      if (group.block !== transfer.block) {
        if (group.transfers.length > 0) yield group;
        group = { block: transfer.block, transfers: [] };
      }
      group.transfers.push(transfer);
    }
    // A batch has whole blocks.
    if (group.transfers.length > 0) yield group;
  }
  return null;
}
