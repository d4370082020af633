/**
 * Lies about real blocks: what becomes of a field that is changed by one nibble (`flip`) or left out (`drop`).
 *
 * era | record | how | outcome | fields. The outcome is the proof that fails, `form` (RECORD_INVALID), `written` (the
 * text is that of the truth all the same), or `no: ` and the reason why it goes unseen (a key of UNPROVABLE).
 */
const TABLE = `
shanghai | block | flip | headerHash | baseFeePerGas difficulty extraData gasLimit gasUsed hash logsBloom miner
shanghai | block | flip | headerHash | mixHash nonce number parentHash receiptsRoot sha3Uncles stateRoot timestamp
shanghai | block | flip | headerHash | transactionsRoot withdrawalsRoot
shanghai | block | flip | no: size | size
shanghai | block | flip | no: total | totalDifficulty
shanghai | transaction 0x2 | flip | consistency | blockHash blockNumber chainId gas gasPrice hash input maxFeePerGas
shanghai | transaction 0x2 | flip | consistency | maxPriorityFeePerGas nonce r s to transactionIndex v value yParity
shanghai | transaction 0x2 | flip | senders | from
shanghai | transaction 0x2 | flip | form | type
shanghai | receipt 0x2 | flip | consistency | blockHash blockNumber contractAddress cumulativeGasUsed
shanghai | receipt 0x2 | flip | consistency | effectiveGasPrice from gasUsed to transactionHash transactionIndex
shanghai | receipt 0x2 | flip | consistency | type
shanghai | receipt 0x2 | flip | logsBloom | logsBloom
shanghai | receipt 0x2 | flip | receiptsRoot | status
shanghai | log 0x2 | flip | logsBloom | address
shanghai | log 0x2 | flip | receiptsRoot | data
shanghai | log 0x2 | flip | consistency | blockHash blockNumber logIndex removed transactionHash transactionIndex
shanghai | transaction 0x0 | flip | consistency | blockHash blockNumber chainId gas gasPrice hash input nonce r s to
shanghai | transaction 0x0 | flip | consistency | transactionIndex type v value
shanghai | transaction 0x0 | flip | senders | from
shanghai | receipt 0x0 | flip | consistency | blockHash blockNumber contractAddress cumulativeGasUsed
shanghai | receipt 0x0 | flip | consistency | effectiveGasPrice from gasUsed to transactionHash transactionIndex
shanghai | receipt 0x0 | flip | consistency | type
shanghai | receipt 0x0 | flip | logsBloom | logsBloom
shanghai | receipt 0x0 | flip | receiptsRoot | status
shanghai | log 0x0 | flip | logsBloom | address
shanghai | log 0x0 | flip | receiptsRoot | data
shanghai | log 0x0 | flip | consistency | blockHash blockNumber logIndex removed transactionHash transactionIndex
shanghai | trace root | flip | traces | blockHash blockNumber subtraces transactionHash transactionPosition
shanghai | trace root | flip | form | type
shanghai | trace root action | flip | traces | from input to value
shanghai | trace root action | flip | no: root | callType gas
shanghai | trace root result | flip | no: root | gasUsed output
shanghai | trace inner | flip | traces | blockHash blockNumber subtraces transactionHash transactionPosition
shanghai | trace inner | flip | form | type
shanghai | trace inner action | flip | no: inside | callType from gas input value
shanghai | trace inner action | flip | logAddresses | to
shanghai | trace inner result | flip | no: inside | gasUsed output
shanghai | block | drop | headerHash | baseFeePerGas withdrawalsRoot
shanghai | block | drop | form | difficulty extraData gasLimit gasUsed hash logsBloom miner mixHash nonce number
shanghai | block | drop | form | parentHash receiptsRoot sha3Uncles size stateRoot timestamp transactions
shanghai | block | drop | form | transactionsRoot uncles
shanghai | block | drop | no: total | totalDifficulty
shanghai | transaction 0x2 | drop | form | blockHash blockNumber from gas gasPrice hash input maxFeePerGas
shanghai | transaction 0x2 | drop | form | maxPriorityFeePerGas nonce r s to transactionIndex value
shanghai | transaction 0x2 | drop | consistency | type
shanghai | transaction 0x2 | drop | written | accessList chainId v yParity
shanghai | receipt 0x2 | drop | form | blockHash blockNumber contractAddress cumulativeGasUsed gasUsed logs
shanghai | receipt 0x2 | drop | form | logsBloom status transactionHash transactionIndex
shanghai | receipt 0x2 | drop | written | effectiveGasPrice from to type
shanghai | log 0x2 | drop | form | address blockHash blockNumber data logIndex removed topics transactionHash
shanghai | log 0x2 | drop | form | transactionIndex
shanghai | transaction 0x0 | drop | form | blockHash blockNumber from gas gasPrice hash input nonce r s to
shanghai | transaction 0x0 | drop | form | transactionIndex v value
shanghai | transaction 0x0 | drop | written | chainId type
shanghai | receipt 0x0 | drop | form | blockHash blockNumber contractAddress cumulativeGasUsed gasUsed logs
shanghai | receipt 0x0 | drop | form | logsBloom status transactionHash transactionIndex
shanghai | receipt 0x0 | drop | written | effectiveGasPrice from to type
shanghai | log 0x0 | drop | form | address blockHash blockNumber data logIndex removed topics transactionHash
shanghai | log 0x0 | drop | form | transactionIndex
shanghai | trace root | drop | form | blockHash blockNumber subtraces transactionHash transactionPosition type
shanghai | trace root action | drop | form | callType from gas input to value
shanghai | trace root result | drop | form | gasUsed output
shanghai | trace inner | drop | form | blockHash blockNumber subtraces transactionHash transactionPosition type
shanghai | trace inner action | drop | form | callType from gas input to value
shanghai | trace inner result | drop | form | gasUsed output
cancun | block | flip | headerHash | baseFeePerGas blobGasUsed difficulty excessBlobGas extraData gasLimit gasUsed
cancun | block | flip | headerHash | hash logsBloom miner mixHash nonce number parentBeaconBlockRoot parentHash
cancun | block | flip | headerHash | receiptsRoot sha3Uncles stateRoot timestamp transactionsRoot withdrawalsRoot
cancun | block | flip | written | size
cancun | block | flip | no: total | totalDifficulty
cancun | transaction 0x3 | flip | consistency | blockHash blockNumber chainId gas gasPrice hash input
cancun | transaction 0x3 | flip | consistency | maxFeePerBlobGas maxFeePerGas maxPriorityFeePerGas nonce r s to
cancun | transaction 0x3 | flip | consistency | transactionIndex type v value yParity
cancun | transaction 0x3 | flip | senders | from
cancun | receipt 0x3 | flip | no: blobGasPrice | blobGasPrice
cancun | receipt 0x3 | flip | consistency | blobGasUsed blockHash blockNumber contractAddress cumulativeGasUsed
cancun | receipt 0x3 | flip | consistency | effectiveGasPrice from gasUsed to transactionHash transactionIndex type
cancun | receipt 0x3 | flip | logsBloom | logsBloom
cancun | receipt 0x3 | flip | receiptsRoot | status
cancun | log 0x3 | flip | logsBloom | address
cancun | log 0x3 | flip | consistency | blockHash blockNumber logIndex removed transactionHash transactionIndex
cancun | log 0x3 | flip | receiptsRoot | data
cancun | withdrawal | flip | withdrawalsRoot | address amount index validatorIndex
cancun | block | drop | headerHash | baseFeePerGas blobGasUsed excessBlobGas parentBeaconBlockRoot withdrawalsRoot
cancun | block | drop | form | difficulty extraData gasLimit gasUsed hash logsBloom miner mixHash nonce number
cancun | block | drop | form | parentHash receiptsRoot sha3Uncles stateRoot timestamp transactions transactionsRoot
cancun | block | drop | form | uncles
cancun | block | drop | written | size
cancun | block | drop | no: total | totalDifficulty
cancun | block | drop | no: withdrawals | withdrawals
cancun | transaction 0x3 | drop | written | accessList chainId v yParity
cancun | transaction 0x3 | drop | consistency | blobVersionedHashes type
cancun | transaction 0x3 | drop | form | blockHash blockNumber from gas gasPrice hash input maxFeePerBlobGas
cancun | transaction 0x3 | drop | form | maxFeePerGas maxPriorityFeePerGas nonce r s to transactionIndex value
cancun | receipt 0x3 | drop | no: blobGasPrice | blobGasPrice
cancun | receipt 0x3 | drop | written | blobGasUsed effectiveGasPrice from to type
cancun | receipt 0x3 | drop | form | blockHash blockNumber contractAddress cumulativeGasUsed gasUsed logs logsBloom
cancun | receipt 0x3 | drop | form | status transactionHash transactionIndex
cancun | log 0x3 | drop | form | address blockHash blockNumber data logIndex removed topics transactionHash
cancun | log 0x3 | drop | form | transactionIndex
cancun | withdrawal | drop | form | address amount index validatorIndex
prague | block | flip | headerHash | baseFeePerGas blobGasUsed difficulty excessBlobGas extraData gasLimit gasUsed
prague | block | flip | headerHash | hash logsBloom miner mixHash nonce number parentBeaconBlockRoot parentHash
prague | block | flip | headerHash | receiptsRoot requestsHash sha3Uncles stateRoot timestamp transactionsRoot
prague | block | flip | headerHash | withdrawalsRoot
prague | block | flip | written | size
prague | transaction 0x4 | flip | consistency | blockHash blockNumber chainId gas gasPrice hash input maxFeePerGas
prague | transaction 0x4 | flip | consistency | maxPriorityFeePerGas nonce r s to transactionIndex v value yParity
prague | transaction 0x4 | flip | senders | from
prague | transaction 0x4 | flip | form | type
prague | receipt 0x4 | flip | consistency | blockHash blockNumber contractAddress cumulativeGasUsed
prague | receipt 0x4 | flip | consistency | effectiveGasPrice from gasUsed to transactionHash transactionIndex type
prague | receipt 0x4 | flip | logsBloom | logsBloom
prague | receipt 0x4 | flip | receiptsRoot | status
prague | log 0x4 | flip | logsBloom | address
prague | log 0x4 | flip | receiptsRoot | data
prague | log 0x4 | flip | consistency | blockHash blockNumber logIndex removed transactionHash transactionIndex
prague | transaction 0x1 | flip | consistency | blockHash blockNumber chainId gas gasPrice hash input nonce r s to
prague | transaction 0x1 | flip | consistency | transactionIndex type v value yParity
prague | transaction 0x1 | flip | senders | from
prague | receipt 0x1 | flip | consistency | blockHash blockNumber contractAddress cumulativeGasUsed
prague | receipt 0x1 | flip | consistency | effectiveGasPrice from gasUsed to transactionHash transactionIndex type
prague | receipt 0x1 | flip | logsBloom | logsBloom
prague | receipt 0x1 | flip | receiptsRoot | status
prague | log 0x1 | flip | logsBloom | address
prague | log 0x1 | flip | receiptsRoot | data
prague | log 0x1 | flip | consistency | blockHash blockNumber logIndex removed transactionHash transactionIndex
prague | withdrawal | flip | withdrawalsRoot | address amount index validatorIndex
prague | block | drop | headerHash | baseFeePerGas blobGasUsed excessBlobGas parentBeaconBlockRoot requestsHash
prague | block | drop | headerHash | withdrawalsRoot
prague | block | drop | form | difficulty extraData gasLimit gasUsed hash logsBloom miner mixHash nonce number
prague | block | drop | form | parentHash receiptsRoot sha3Uncles stateRoot timestamp transactions transactionsRoot
prague | block | drop | form | uncles
prague | block | drop | written | size
prague | block | drop | no: withdrawals | withdrawals
prague | transaction 0x4 | drop | form | blockHash blockNumber from gas gasPrice hash input maxFeePerGas
prague | transaction 0x4 | drop | form | maxPriorityFeePerGas nonce r s to transactionIndex value
prague | transaction 0x4 | drop | consistency | authorizationList type
prague | transaction 0x4 | drop | written | accessList chainId v yParity
prague | receipt 0x4 | drop | form | blockHash blockNumber contractAddress cumulativeGasUsed gasUsed logs logsBloom
prague | receipt 0x4 | drop | form | status transactionHash transactionIndex
prague | receipt 0x4 | drop | written | effectiveGasPrice from to type
prague | log 0x4 | drop | form | address blockHash blockNumber data logIndex removed topics transactionHash
prague | log 0x4 | drop | form | transactionIndex
prague | transaction 0x1 | drop | form | blockHash blockNumber from gas gasPrice hash input nonce r s to
prague | transaction 0x1 | drop | form | transactionIndex value
prague | transaction 0x1 | drop | consistency | type
prague | transaction 0x1 | drop | written | accessList chainId v yParity
prague | receipt 0x1 | drop | form | blockHash blockNumber contractAddress cumulativeGasUsed gasUsed logs logsBloom
prague | receipt 0x1 | drop | form | status transactionHash transactionIndex
prague | receipt 0x1 | drop | written | effectiveGasPrice from to type
prague | log 0x1 | drop | form | address blockHash blockNumber data logIndex removed topics transactionHash
prague | log 0x1 | drop | form | transactionIndex
prague | withdrawal | drop | form | address amount index validatorIndex
op | block | flip | headerHash | baseFeePerGas blobGasUsed difficulty excessBlobGas extraData gasLimit gasUsed hash
op | block | flip | headerHash | logsBloom miner mixHash nonce number parentBeaconBlockRoot parentHash receiptsRoot
op | block | flip | headerHash | requestsHash sha3Uncles stateRoot timestamp transactionsRoot withdrawalsRoot
op | block | flip | written | size
op | transaction 0x7e | flip | consistency | blockHash blockNumber blockTimestamp from gas gasPrice hash input mint
op | transaction 0x7e | flip | consistency | sourceHash to transactionIndex v value yParity
op | transaction 0x7e | flip | no: deposit | depositReceiptVersion r s
op | transaction 0x7e | flip | form | type
op | receipt 0x7e | flip | no: opFees | blobGasUsed daFootprintGasScalar l1BaseFeeScalar l1BlobBaseFee
op | receipt 0x7e | flip | no: opFees | l1BlobBaseFeeScalar l1Fee l1GasPrice l1GasUsed
op | receipt 0x7e | flip | consistency | blockHash blockNumber contractAddress cumulativeGasUsed effectiveGasPrice
op | receipt 0x7e | flip | consistency | from gasUsed to transactionHash transactionIndex type
op | receipt 0x7e | flip | receiptsRoot | depositNonce depositReceiptVersion status
op | receipt 0x7e | flip | logsBloom | logsBloom
op | transaction 0x2 | flip | consistency | blockHash blockNumber blockTimestamp chainId gas gasPrice hash input
op | transaction 0x2 | flip | consistency | maxFeePerGas maxPriorityFeePerGas nonce r s to transactionIndex v value
op | transaction 0x2 | flip | consistency | yParity
op | transaction 0x2 | flip | senders | from
op | transaction 0x2 | flip | form | type
op | receipt 0x2 | flip | no: opFees | blobGasUsed daFootprintGasScalar l1BaseFeeScalar l1BlobBaseFee
op | receipt 0x2 | flip | no: opFees | l1BlobBaseFeeScalar l1Fee l1GasPrice l1GasUsed
op | receipt 0x2 | flip | consistency | blockHash blockNumber contractAddress cumulativeGasUsed effectiveGasPrice
op | receipt 0x2 | flip | consistency | from gasUsed to transactionHash transactionIndex type
op | receipt 0x2 | flip | logsBloom | logsBloom
op | receipt 0x2 | flip | receiptsRoot | status
op | log 0x2 | flip | logsBloom | address
op | log 0x2 | flip | consistency | blockHash blockNumber blockTimestamp logIndex removed transactionHash
op | log 0x2 | flip | consistency | transactionIndex
op | log 0x2 | flip | receiptsRoot | data
op | block | drop | headerHash | baseFeePerGas blobGasUsed excessBlobGas parentBeaconBlockRoot requestsHash
op | block | drop | headerHash | withdrawalsRoot
op | block | drop | form | difficulty extraData gasLimit gasUsed hash logsBloom miner mixHash nonce number
op | block | drop | form | parentHash receiptsRoot sha3Uncles stateRoot timestamp transactions transactionsRoot
op | block | drop | form | uncles
op | block | drop | written | size withdrawals
op | transaction 0x7e | drop | form | blockHash blockNumber from gas hash input sourceHash to transactionIndex type
op | transaction 0x7e | drop | form | value
op | transaction 0x7e | drop | no: some | blockTimestamp
op | transaction 0x7e | drop | no: deposit | depositReceiptVersion gasPrice mint r s v yParity
op | receipt 0x7e | drop | no: opFees | blobGasUsed daFootprintGasScalar l1BaseFeeScalar l1BlobBaseFee
op | receipt 0x7e | drop | no: opFees | l1BlobBaseFeeScalar l1Fee l1GasPrice l1GasUsed
op | receipt 0x7e | drop | no: deposit | effectiveGasPrice
op | receipt 0x7e | drop | form | blockHash blockNumber contractAddress cumulativeGasUsed gasUsed logs logsBloom
op | receipt 0x7e | drop | form | status transactionHash transactionIndex
op | receipt 0x7e | drop | receiptsRoot | depositNonce depositReceiptVersion
op | receipt 0x7e | drop | written | from to type
op | transaction 0x2 | drop | written | accessList chainId v yParity
op | transaction 0x2 | drop | form | blockHash blockNumber from gas gasPrice hash input maxFeePerGas
op | transaction 0x2 | drop | form | maxPriorityFeePerGas nonce r s to transactionIndex value
op | transaction 0x2 | drop | no: some | blockTimestamp
op | transaction 0x2 | drop | consistency | type
op | receipt 0x2 | drop | no: opFees | blobGasUsed daFootprintGasScalar l1BaseFeeScalar l1BlobBaseFee
op | receipt 0x2 | drop | no: opFees | l1BlobBaseFeeScalar l1Fee l1GasPrice l1GasUsed
op | receipt 0x2 | drop | form | blockHash blockNumber contractAddress cumulativeGasUsed gasUsed logs logsBloom
op | receipt 0x2 | drop | form | status transactionHash transactionIndex
op | receipt 0x2 | drop | written | effectiveGasPrice from to type
op | log 0x2 | drop | form | address blockHash blockNumber data logIndex removed topics transactionHash
op | log 0x2 | drop | form | transactionIndex
op | log 0x2 | drop | no: some | blockTimestamp
arbitrum | block | flip | headerHash | baseFeePerGas difficulty extraData gasLimit gasUsed hash logsBloom miner
arbitrum | block | flip | headerHash | mixHash nonce number parentHash receiptsRoot sha3Uncles stateRoot timestamp
arbitrum | block | flip | headerHash | transactionsRoot
arbitrum | block | flip | no: some | l1BlockNumber sendCount sendRoot
arbitrum | block | flip | no: otherRules | size
arbitrum | transaction 0x6a | flip | consistency | blockHash blockNumber chainId from hash input to transactionIndex
arbitrum | transaction 0x6a | flip | no: otherType | gas gasPrice nonce r s v value
arbitrum | transaction 0x6a | flip | form | type
arbitrum | receipt 0x6a | flip | consistency | blockHash blockNumber cumulativeGasUsed from gasUsed to
arbitrum | receipt 0x6a | flip | consistency | transactionHash transactionIndex type
arbitrum | receipt 0x6a | flip | no: otherRules | contractAddress effectiveGasPrice
arbitrum | receipt 0x6a | flip | no: some | gasUsedForL1 l1BlockNumber timeboosted
arbitrum | receipt 0x6a | flip | logsBloom | logsBloom
arbitrum | receipt 0x6a | flip | receiptsRoot | status
arbitrum | transaction 0x2 | flip | consistency | blockHash blockNumber chainId gas hash input maxFeePerGas
arbitrum | transaction 0x2 | flip | consistency | maxPriorityFeePerGas nonce r s to transactionIndex v value yParity
arbitrum | transaction 0x2 | flip | senders | from
arbitrum | transaction 0x2 | flip | no: otherRules | gasPrice
arbitrum | transaction 0x2 | flip | form | type
arbitrum | receipt 0x2 | flip | consistency | blockHash blockNumber cumulativeGasUsed from gasUsed to
arbitrum | receipt 0x2 | flip | consistency | transactionHash transactionIndex type
arbitrum | receipt 0x2 | flip | no: otherRules | contractAddress effectiveGasPrice
arbitrum | receipt 0x2 | flip | no: some | gasUsedForL1 l1BlockNumber timeboosted
arbitrum | receipt 0x2 | flip | logsBloom | logsBloom
arbitrum | receipt 0x2 | flip | receiptsRoot | status
arbitrum | log 0x2 | flip | logsBloom | address
arbitrum | log 0x2 | flip | receiptsRoot | data
arbitrum | log 0x2 | flip | consistency | blockHash blockNumber logIndex removed transactionHash transactionIndex
arbitrum | block | drop | headerHash | baseFeePerGas
arbitrum | block | drop | form | difficulty extraData gasLimit gasUsed hash logsBloom miner mixHash nonce number
arbitrum | block | drop | form | parentHash receiptsRoot sha3Uncles size stateRoot timestamp transactions
arbitrum | block | drop | form | transactionsRoot uncles
arbitrum | block | drop | no: some | l1BlockNumber sendCount sendRoot
arbitrum | transaction 0x6a | drop | form | blockHash blockNumber chainId from gas hash input to transactionIndex
arbitrum | transaction 0x6a | drop | form | value
arbitrum | transaction 0x6a | drop | no: otherType | gasPrice nonce r s v
arbitrum | transaction 0x6a | drop | consistency | type
arbitrum | receipt 0x6a | drop | form | blockHash blockNumber contractAddress cumulativeGasUsed gasUsed logs
arbitrum | receipt 0x6a | drop | form | logsBloom status transactionHash transactionIndex
arbitrum | receipt 0x6a | drop | no: otherRules | effectiveGasPrice
arbitrum | receipt 0x6a | drop | no: some | gasUsedForL1 l1BlockNumber timeboosted
arbitrum | receipt 0x6a | drop | written | from to type
arbitrum | transaction 0x2 | drop | form | blockHash blockNumber from gas gasPrice hash input maxFeePerGas
arbitrum | transaction 0x2 | drop | form | maxPriorityFeePerGas nonce r s to transactionIndex value
arbitrum | transaction 0x2 | drop | consistency | type
arbitrum | transaction 0x2 | drop | written | accessList chainId v yParity
arbitrum | receipt 0x2 | drop | form | blockHash blockNumber contractAddress cumulativeGasUsed gasUsed logs
arbitrum | receipt 0x2 | drop | form | logsBloom status transactionHash transactionIndex
arbitrum | receipt 0x2 | drop | no: otherRules | effectiveGasPrice
arbitrum | receipt 0x2 | drop | no: some | gasUsedForL1 l1BlockNumber timeboosted
arbitrum | receipt 0x2 | drop | written | from to type
arbitrum | log 0x2 | drop | form | address blockHash blockNumber data logIndex removed topics transactionHash
arbitrum | log 0x2 | drop | form | transactionIndex
`;

/** First cells of the README's table of what no proof covers, by a short name. */
export const UNPROVABLE = {
  total: '`totalDifficulty`',
  uncles: 'hashes in `uncles`',
  size: '`size` with uncles, or without the withdrawals',
  amsterdam: '`size` since Amsterdam',
  withdrawals: '`withdrawals` that are absent',
  from: '`from` that is wrong in a transaction and its receipt, unless `senders` is `all`',
  unsigned: '`from` of a transaction with an empty signature',
  chainId: '`chainId` of a legacy transaction with `v` 27 or 28',
  status: '`status` beside a `root` of 32 bytes',
  blobGasPrice: '`blobGasPrice`',
  deposit: 'what nodes add to a deposit',
  depositNonce: '`depositNonce` without `depositReceiptVersion`',
  depositGas: '`gasUsed` of a deposit without `depositNonce`',
  opFees: 'fees of the OP stack',
  otherRules: 'prices, sizes and new contracts where other rules hold',
  otherType: 'what a type of another chain does not encode',
  inside: 'traces inside a tree',
  root: 'gas, output and kind of call at the root of a tree',
  rewards: 'rewards',
  some: 'fields that only some nodes have',
} as const;

/** Where a block of each era is recorded, and its chain. */
export const ERAS = {
  shanghai: { recording: 'mainnet-17686110-17686121', number: 17686110, chainId: 1 },
  cancun: { recording: 'mainnet-forks', number: 19433903, chainId: 1 },
  prague: { recording: 'mainnet-forks', number: 22869878, chainId: 1 },
  op: { recording: 'optimism', number: 154497277, chainId: 10 },
  arbitrum: { recording: 'arb-sepolia', number: 185232421, chainId: 421614 },
} as const;

/** One row of the table. */
export interface Lies {
  era: keyof typeof ERAS;
  /** `block`, `transaction 0x2` (one of that type), `receipt 0x2`, `log 0x2`, `withdrawal`, `trace root action`, … */
  record: string;
  how: 'flip' | 'drop';
  /** A proof, `form` or `written`; absent if it goes unseen. */
  outcome?: string;
  /** Why it goes unseen. */
  because?: keyof typeof UNPROVABLE;
  fields: readonly string[];
}

/** The table, row by row. */
export const LIES: readonly Lies[] = TABLE.trim()
  .split('\n')
  .map((line) => {
    const [era, record, how, outcome, fields] = line.split(' | ') as [string, string, string, string, string];
    return {
      ...({ era, record, how } as Pick<Lies, 'era' | 'record' | 'how'>),
      ...(outcome.startsWith('no: ')
        ? { because: outcome.slice(4) as keyof typeof UNPROVABLE }
        : { outcome }),
      fields: fields.split(' '),
    };
  });
