import type { Json, Recorded } from '@packhouse/recordings';

/*
 * A block as it follows from a history file of an execution client (era1, ere): the RLP of header, body and receipts, and
 * what is computed from these. No file has what a node's JSON adds.
 */

const names = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

const BLOCK = names(
  `number hash parentHash nonce sha3Uncles logsBloom transactionsRoot stateRoot receiptsRoot miner mixHash difficulty
   extraData size gasLimit gasUsed timestamp uncles baseFeePerGas withdrawalsRoot blobGasUsed excessBlobGas
   parentBeaconBlockRoot requestsHash withdrawals`,
);
const TRANSACTION =
  'type hash from blockHash blockNumber transactionIndex nonce gas gasPrice to value input v r s';
const TYPED = `${TRANSACTION} chainId accessList`;
const PRICED = `${TYPED} maxFeePerGas maxPriorityFeePerGas`;
const TRANSACTIONS: Readonly<Record<string, ReadonlySet<string>>> = {
  '0x0': names(TRANSACTION),
  '0x1': names(TYPED),
  '0x2': names(PRICED),
  '0x3': names(`${PRICED} maxFeePerBlobGas blobVersionedHashes`),
  '0x4': names(`${PRICED} authorizationList`),
};
const RECEIPT = names(
  `transactionHash transactionIndex blockHash blockNumber cumulativeGasUsed gasUsed contractAddress logs logsBloom root
   status`,
);

const only = (record: Json, kept: ReadonlySet<string>): Json =>
  Object.fromEntries(Object.entries(record).filter(([name]) => kept.has(name)));

/** The same block, of which only that is left. */
export function toHistory({ number, block, receipts }: Recorded): Recorded {
  const transactions = block.transactions.map((tx) => only(tx, TRANSACTIONS[String(tx.type ?? '0x0')]!));
  return {
    number,
    block: { ...only(block, BLOCK), transactions } as Recorded['block'],
    receipts: receipts!.map((receipt) => only(receipt, RECEIPT)) as NonNullable<Recorded['receipts']>,
  };
}
