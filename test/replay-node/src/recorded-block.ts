/** A JSON object of a node's answer, as parsed. */
export interface RpcObject {
  [field: string]: unknown;
}

/** A transaction object as `eth_getBlockByNumber(n, true)` has it. */
export interface RpcTransaction extends RpcObject {
  hash: string;
}

/** A log object inside a receipt. */
export interface RpcLog extends RpcObject {
  address: string;
  topics: string[];
  data: string;
}

/** A receipt object as `eth_getBlockReceipts` has it. */
export interface RpcReceipt extends RpcObject {
  transactionHash: string;
  logs: RpcLog[];
}

/** A trace object as `trace_block` has it; a reward has no transaction. */
export interface RpcTrace extends RpcObject {
  type: string;
  action: RpcObject;
  result?: RpcObject | null;
  error?: string;
  subtraces: number;
  traceAddress: number[];
  transactionHash?: string | null;
  transactionPosition?: number | null;
}

/** A block object with full transactions. */
export interface RpcBlock extends RpcObject {
  number: string;
  hash: string;
  parentHash: string;
  timestamp: string;
  transactions: RpcTransaction[];
}

/** The recorded data of one block: the results of the node's three big methods. */
export interface RecordedBlock {
  number: number;
  block: RpcBlock;
  /** Absent if the node was not asked. */
  receipts?: RpcReceipt[];
  /** Absent if the node was not asked. */
  traces?: RpcTrace[];
}
