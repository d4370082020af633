import type { AbiInput, DecodedLog, Decoder, Hex, RowBatch } from '@packhouse/rows';
import { topicsIn } from '@packhouse/rows';

/** A log, with what the ABI makes of it: null if no ABI is given or none of its events fits. */
export type Log<Abi extends AbiInput = AbiInput> = LogFields &
  (DecodedLog<Abi> | { event: null; args: null });

interface LogFields {
  blockNumber: number;
  blockHash: Hex;
  /** Seconds since 1970; null: the node that it is from does not tell. */
  blockTimestamp: number | null;
  transactionHash: Hex;
  transactionIndex: number;
  logIndex: number;
  address: Hex;
  topics: Hex[];
  data: Hex;
}

/** The logs of rows, decoded. */
export function toLogs<Abi extends AbiInput>(
  { rows, columns }: RowBatch,
  decoder: Decoder<Abi> | null,
): Log<Abi>[] {
  const logs: Log<Abi>[] = [];
  for (let row = 0; row < rows; row += 1) {
    const cell = (name: string): unknown => columns[name]?.[row];
    const topics = topicsIn(columns, row);
    const data = cell('data') as Hex;
    logs.push({
      blockNumber: cell('block_number'),
      blockHash: cell('block_hash'),
      blockTimestamp: cell('block_timestamp'),
      transactionHash: cell('transaction_hash'),
      transactionIndex: cell('transaction_index'),
      logIndex: cell('log_index'),
      address: cell('address'),
      topics,
      data,
      ...(decoder?.decode(topics, data) ?? { event: null, args: null }),
    } as Log<Abi>);
  }
  return logs;
}
