/** The fields of a record that its reader writes down, and those that it does not know but keeps. */
export interface FieldTable {
  /** The fields that the format of bundles names. Their order is that of the text, which the record's own file writes. */
  readonly spec: ReadonlySet<string>;
  /**
   * Fields that a protocol defines and no proof needs: kept as they are under `extraFields: drop`. (Fields with a
   * form of their own, such as `maxFeePerGas`, are read by the record's file and kept always.)
   */
  readonly kept: ReadonlySet<string>;
}

function table(spec: string, kept = ''): FieldTable {
  const names = (text: string) => new Set(text.split(/\s+/).filter((name) => name !== ''));
  return { spec: names(spec), kept: names(kept) };
}

/** Objects whose fields the format does not name. */
export const UNLISTED_FIELDS = table('');

/** A block. */
export const BLOCK_FIELDS = table(
  `number hash parentHash nonce sha3Uncles logsBloom transactionsRoot stateRoot receiptsRoot miner mixHash
   difficulty totalDifficulty extraData size gasLimit gasUsed timestamp transactions uncles baseFeePerGas`,
);

/**
 * A transaction. Kept: what the first generation of the OP stack tells of a transaction's way from L1, and
 * `depositReceiptVersion`, which op-geth repeats in the transaction.
 */
export const TRANSACTION_FIELDS = table(
  `blockHash blockNumber from gas gasPrice hash input nonce to transactionIndex value v r s type chainId accessList
   sourceHash mint isSystemTx`,
  'depositReceiptVersion index l1BlockNumber l1Timestamp l1TxOrigin queueIndex queueOrigin',
);

/** EIP-7702; `v` stands for `yParity` where a node uses its older name. */
export const AUTHORIZATION_FIELDS = table('', 'v');

/** A receipt. Kept: the fees of the OP stack. */
export const RECEIPT_FIELDS = table(
  `transactionHash transactionIndex blockHash blockNumber from to cumulativeGasUsed gasUsed effectiveGasPrice
   contractAddress logs logsBloom type root status`,
  `daFootprintGasScalar l1BaseFeeScalar l1BlobBaseFee l1BlobBaseFeeScalar l1BlockNumber l1Fee l1FeeScalar l1GasPrice
   l1GasUsed operatorFeeConstant operatorFeeScalar`,
);

/** A log. */
export const LOG_FIELDS = table(
  'removed logIndex transactionIndex transactionHash blockHash blockNumber address data topics',
);

/** A trace. */
export const TRACE_FIELDS = table(
  'action result blockHash blockNumber subtraces traceAddress transactionHash transactionPosition type',
);

/** The action of a call. */
export const CALL_FIELDS = table('callType from to gas value input');

/** The action of a creation: those of a call's fields that it has. */
export const CREATE_FIELDS = table('from gas value');

/** The action of a reward: that of a call's fields that it has. */
export const REWARD_FIELDS = table('value');

/** The result of a call. */
export const RESULT_FIELDS = table('gasUsed output');
