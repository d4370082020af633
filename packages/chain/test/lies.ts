/**
 * Lies about blocks: what becomes of a field that is changed by one nibble (`flip`) or left out (`drop`).
 *
 * eras | record and types | how | outcome | fields. The outcome is the proof that fails, `form` (RECORD_INVALID), `written`
 * (the text is that of the truth all the same), or `no: ` and the reason why it goes unseen (a key of UNPROVABLE).
 */
const TABLE = `
arbitrum | block | flip | no: some | l1BlockNumber sendCount sendRoot
arbitrum | block | flip | no: otherRules | size
cancun prague op | block | flip | headerHash | blobGasUsed excessBlobGas parentBeaconBlockRoot
cancun prague op | block | flip | written | size
prague op | block | flip | headerHash | requestsHash
shanghai | block | flip | no: size | size
shanghai cancun | block | flip | no: total | totalDifficulty
shanghai cancun prague op | block | flip | headerHash | withdrawalsRoot
shanghai cancun prague op arbitrum | block | flip | headerHash | baseFeePerGas difficulty extraData gasLimit gasUsed
shanghai cancun prague op arbitrum | block | flip | headerHash | hash logsBloom miner mixHash nonce number parentHash
shanghai cancun prague op arbitrum | block | flip | headerHash | receiptsRoot sha3Uncles stateRoot timestamp
shanghai cancun prague op arbitrum | block | flip | headerHash | transactionsRoot
arbitrum | block | drop | no: some | l1BlockNumber sendCount sendRoot
cancun prague | block | drop | no: withdrawals | withdrawals
cancun prague op | block | drop | headerHash | blobGasUsed excessBlobGas parentBeaconBlockRoot
cancun prague op | block | drop | written | size
op | block | drop | written | withdrawals
prague op | block | drop | headerHash | requestsHash
shanghai arbitrum | block | drop | form | size
shanghai cancun | block | drop | no: total | totalDifficulty
shanghai cancun prague op | block | drop | headerHash | withdrawalsRoot
shanghai cancun prague op arbitrum | block | drop | headerHash | baseFeePerGas
shanghai cancun prague op arbitrum | block | drop | form | difficulty extraData gasLimit gasUsed hash logsBloom miner
shanghai cancun prague op arbitrum | block | drop | form | mixHash nonce number parentHash receiptsRoot sha3Uncles
shanghai cancun prague op arbitrum | block | drop | form | stateRoot timestamp transactions transactionsRoot uncles
cancun prague | withdrawal | flip | withdrawalsRoot | address amount index validatorIndex
cancun prague | withdrawal | drop | form | address amount index validatorIndex
arbitrum | transaction 0x2 | flip | consistency | gas v value
arbitrum | transaction 0x2 | flip | no: otherRules | gasPrice
arbitrum | transaction 0x6a | flip | consistency | from
arbitrum | transaction 0x6a | flip | no: otherType | gas gasPrice nonce r s v value
arbitrum | transaction 0x6a 0x2 | flip | consistency | blockHash blockNumber chainId hash input to transactionIndex
arbitrum | transaction 0x6a 0x2 | flip | form | type
cancun | transaction 0x3 | flip | consistency | blockHash blockNumber chainId gas gasPrice hash input maxFeePerBlobGas
cancun | transaction 0x3 | flip | consistency | maxFeePerGas maxPriorityFeePerGas nonce r s to transactionIndex type v
cancun | transaction 0x3 | flip | consistency | value yParity
cancun | transaction 0x3 | flip | senders | from
op | transaction 0x2 | flip | consistency | chainId
op | transaction 0x7e | flip | consistency | from mint sourceHash
op | transaction 0x7e | flip | consistency | depositReceiptVersion r s
op | transaction 0x7e 0x2 | flip | consistency | blockHash blockNumber blockTimestamp gas gasPrice hash input to
op | transaction 0x7e 0x2 | flip | consistency | transactionIndex v value yParity
op | transaction 0x7e 0x2 | flip | form | type
op arbitrum | transaction 0x2 | flip | consistency | nonce r s
op arbitrum | transaction 0x2 | flip | senders | from
prague | transaction 0x1 | flip | consistency | type
prague | transaction 0x4 | flip | consistency | maxFeePerGas maxPriorityFeePerGas
prague | transaction 0x4 | flip | form | type
prague | transaction 0x4 0x1 | flip | consistency | blockHash blockNumber chainId gas gasPrice hash input nonce r s to
prague | transaction 0x4 0x1 | flip | consistency | transactionIndex v value yParity
prague | transaction 0x4 0x1 | flip | senders | from
shanghai | transaction 0x0 | flip | consistency | type
shanghai | transaction 0x2 | flip | form | type
shanghai | transaction 0x2 0x0 | flip | consistency | blockHash blockNumber chainId gas gasPrice hash input nonce r s
shanghai | transaction 0x2 0x0 | flip | consistency | to transactionIndex v value
shanghai | transaction 0x2 0x0 | flip | senders | from
shanghai arbitrum | transaction 0x2 | flip | consistency | yParity
shanghai op arbitrum | transaction 0x2 | flip | consistency | maxFeePerGas maxPriorityFeePerGas
arbitrum | transaction 0x6a | drop | form | chainId
arbitrum | transaction 0x6a | drop | no: otherType | gasPrice nonce r s v
arbitrum | transaction 0x6a 0x2 | drop | form | blockHash blockNumber from gas hash input to transactionIndex value
arbitrum | transaction 0x6a 0x2 | drop | consistency | type
cancun | transaction 0x3 | drop | form | blockHash blockNumber from gas gasPrice hash input maxFeePerBlobGas
cancun | transaction 0x3 | drop | form | maxFeePerGas maxPriorityFeePerGas nonce r s to transactionIndex value
cancun | transaction 0x3 | drop | consistency | blobVersionedHashes type
cancun | transaction 0x3 | drop | written | accessList chainId v yParity
op | transaction 0x7e | drop | form | sourceHash type
op | transaction 0x7e | drop | no: deposit | depositReceiptVersion gasPrice mint r s v yParity
op | transaction 0x7e 0x2 | drop | form | blockHash blockNumber from gas hash input to transactionIndex value
op | transaction 0x7e 0x2 | drop | no: some | blockTimestamp
op arbitrum | transaction 0x2 | drop | form | gasPrice nonce r s
op arbitrum | transaction 0x2 | drop | written | chainId
prague | transaction 0x4 | drop | form | maxFeePerGas maxPriorityFeePerGas
prague | transaction 0x4 | drop | consistency | authorizationList
prague | transaction 0x4 0x1 | drop | form | blockHash blockNumber from gas gasPrice hash input nonce r s to
prague | transaction 0x4 0x1 | drop | form | transactionIndex value
prague | transaction 0x4 0x1 | drop | consistency | type
prague | transaction 0x4 0x1 | drop | written | accessList chainId v yParity
shanghai | transaction 0x0 | drop | form | v
shanghai | transaction 0x0 | drop | written | type
shanghai | transaction 0x2 0x0 | drop | form | blockHash blockNumber from gas gasPrice hash input nonce r s to
shanghai | transaction 0x2 0x0 | drop | form | transactionIndex value
shanghai | transaction 0x2 0x0 | drop | written | chainId
shanghai op | transaction 0x2 | drop | consistency | type
shanghai op arbitrum | transaction 0x2 | drop | form | maxFeePerGas maxPriorityFeePerGas
shanghai op arbitrum | transaction 0x2 | drop | written | accessList v yParity
arbitrum | receipt 0x6a 0x2 | flip | consistency | blockHash blockNumber cumulativeGasUsed from gasUsed to
arbitrum | receipt 0x6a 0x2 | flip | consistency | transactionHash transactionIndex type
arbitrum | receipt 0x6a 0x2 | flip | logsBloom | logsBloom
arbitrum | receipt 0x6a 0x2 | flip | receiptsRoot | status
arbitrum | receipt 0x2 | flip | consistency | contractAddress
arbitrum | receipt 0x6a | flip | no: otherRules | contractAddress
arbitrum | receipt 0x6a 0x2 | flip | no: otherRules | effectiveGasPrice
arbitrum | receipt 0x6a 0x2 | flip | no: some | gasUsedForL1 l1BlockNumber timeboosted
cancun | receipt 0x3 | flip | consistency | blobGasUsed blockHash blockNumber contractAddress cumulativeGasUsed
cancun | receipt 0x3 | flip | consistency | effectiveGasPrice from gasUsed to transactionHash transactionIndex type
cancun | receipt 0x3 | flip | logsBloom | logsBloom
cancun | receipt 0x3 | flip | receiptsRoot | status
cancun | receipt 0x3 | flip | no: blobGasPrice | blobGasPrice
op | receipt 0x7e | flip | receiptsRoot | depositNonce depositReceiptVersion
op | receipt 0x7e 0x2 | flip | consistency | blockHash blockNumber contractAddress cumulativeGasUsed effectiveGasPrice
op | receipt 0x7e 0x2 | flip | consistency | from gasUsed to transactionHash transactionIndex type
op | receipt 0x7e 0x2 | flip | logsBloom | logsBloom
op | receipt 0x7e 0x2 | flip | receiptsRoot | status
op | receipt 0x2 | flip | consistency | blobGasUsed
op | receipt 0x7e | flip | no: opFees | blobGasUsed
op | receipt 0x7e 0x2 | flip | no: opFees | daFootprintGasScalar l1BaseFeeScalar l1BlobBaseFee
op | receipt 0x7e 0x2 | flip | no: opFees | l1BlobBaseFeeScalar l1Fee l1GasPrice l1GasUsed
prague | receipt 0x4 0x1 | flip | consistency | blockHash blockNumber contractAddress cumulativeGasUsed
prague | receipt 0x4 0x1 | flip | consistency | effectiveGasPrice from gasUsed to transactionHash transactionIndex
prague | receipt 0x4 0x1 | flip | consistency | type
prague | receipt 0x4 0x1 | flip | logsBloom | logsBloom
prague | receipt 0x4 0x1 | flip | receiptsRoot | status
shanghai | receipt 0x2 0x0 | flip | consistency | blockHash blockNumber contractAddress cumulativeGasUsed
shanghai | receipt 0x2 0x0 | flip | consistency | effectiveGasPrice from gasUsed to transactionHash transactionIndex
shanghai | receipt 0x2 0x0 | flip | consistency | type
shanghai | receipt 0x2 0x0 | flip | logsBloom | logsBloom
shanghai | receipt 0x2 0x0 | flip | receiptsRoot | status
arbitrum | receipt 0x6a 0x2 | drop | form | blockHash blockNumber cumulativeGasUsed gasUsed logs
arbitrum | receipt 0x6a 0x2 | drop | form | logsBloom status transactionHash transactionIndex
arbitrum | receipt 0x6a 0x2 | drop | written | contractAddress from to type
arbitrum | receipt 0x6a 0x2 | drop | no: otherRules | effectiveGasPrice
arbitrum | receipt 0x6a 0x2 | drop | no: some | gasUsedForL1 l1BlockNumber timeboosted
cancun | receipt 0x3 | drop | form | blockHash blockNumber cumulativeGasUsed gasUsed logs logsBloom
cancun | receipt 0x3 | drop | form | status transactionHash transactionIndex
cancun | receipt 0x3 | drop | written | blobGasUsed contractAddress effectiveGasPrice from to type
cancun | receipt 0x3 | drop | no: blobGasPrice | blobGasPrice
op | receipt 0x2 | drop | written | effectiveGasPrice
op | receipt 0x7e | drop | no: deposit | effectiveGasPrice
op | receipt 0x7e | drop | receiptsRoot | depositNonce depositReceiptVersion
op | receipt 0x7e 0x2 | drop | form | blockHash blockNumber cumulativeGasUsed gasUsed logs logsBloom
op | receipt 0x7e 0x2 | drop | form | status transactionHash transactionIndex
op | receipt 0x7e 0x2 | drop | written | contractAddress from to type
op | receipt 0x2 | drop | consistency | blobGasUsed daFootprintGasScalar
op | receipt 0x7e | drop | consistency | daFootprintGasScalar
op | receipt 0x7e | drop | no: opFees | blobGasUsed
op | receipt 0x7e 0x2 | drop | no: opFees | l1BaseFeeScalar l1BlobBaseFee
op | receipt 0x7e 0x2 | drop | no: opFees | l1BlobBaseFeeScalar l1Fee l1GasPrice l1GasUsed
prague | receipt 0x4 0x1 | drop | form | blockHash blockNumber cumulativeGasUsed gasUsed logs
prague | receipt 0x4 0x1 | drop | form | logsBloom status transactionHash transactionIndex
prague | receipt 0x4 0x1 | drop | written | contractAddress effectiveGasPrice from to type
shanghai | receipt 0x2 0x0 | drop | form | blockHash blockNumber cumulativeGasUsed gasUsed logs
shanghai | receipt 0x2 0x0 | drop | form | logsBloom status transactionHash transactionIndex
shanghai | receipt 0x2 0x0 | drop | written | contractAddress effectiveGasPrice from to type
cancun | log 0x3 | flip | logsBloom | address
cancun | log 0x3 | flip | receiptsRoot | data
cancun | log 0x3 | flip | consistency | blockHash blockNumber logIndex removed transactionHash transactionIndex
op | log 0x2 | flip | consistency | blockTimestamp
op arbitrum | log 0x2 | flip | logsBloom | address
op arbitrum | log 0x2 | flip | receiptsRoot | data
op arbitrum | log 0x2 | flip | consistency | blockHash blockNumber logIndex removed transactionHash transactionIndex
prague | log 0x4 0x1 | flip | logsBloom | address
prague | log 0x4 0x1 | flip | receiptsRoot | data
prague | log 0x4 0x1 | flip | consistency | blockHash blockNumber logIndex removed transactionHash transactionIndex
shanghai | log 0x2 0x0 | flip | logsBloom | address
shanghai | log 0x2 0x0 | flip | receiptsRoot | data
shanghai | log 0x2 0x0 | flip | consistency | blockHash blockNumber logIndex removed transactionHash transactionIndex
cancun | log 0x3 | drop | form | address blockHash blockNumber data logIndex removed topics transactionHash
cancun | log 0x3 | drop | form | transactionIndex
op | log 0x2 | drop | no: some | blockTimestamp
op arbitrum | log 0x2 | drop | form | address blockHash blockNumber data logIndex removed topics transactionHash
op arbitrum | log 0x2 | drop | form | transactionIndex
prague | log 0x4 0x1 | drop | form | address blockHash blockNumber data logIndex removed topics transactionHash
prague | log 0x4 0x1 | drop | form | transactionIndex
shanghai | log 0x2 0x0 | drop | form | address blockHash blockNumber data logIndex removed topics transactionHash
shanghai | log 0x2 0x0 | drop | form | transactionIndex
shanghai | trace inner | flip | traces | blockHash blockNumber subtraces transactionHash transactionPosition
shanghai | trace inner | flip | form | type
shanghai | trace inner | drop | form | blockHash blockNumber subtraces transactionHash transactionPosition type
shanghai | trace inner action | flip | no: inside | callType from gas input value
shanghai | trace inner action | flip | logAddresses | to
shanghai | trace inner action | drop | form | callType from gas input to value
shanghai | trace inner result | flip | no: inside | gasUsed output
shanghai | trace inner result | drop | form | gasUsed output
shanghai | trace root | flip | traces | blockHash blockNumber subtraces transactionHash transactionPosition
shanghai | trace root | flip | form | type
shanghai | trace root | drop | form | blockHash blockNumber subtraces transactionHash transactionPosition type
shanghai | trace root action | flip | traces | from input to value
shanghai | trace root action | flip | no: root | callType gas
shanghai | trace root action | drop | form | callType from gas input to value
shanghai | trace root result | flip | no: root | gasUsed output
shanghai | trace root result | drop | form | gasUsed output
`;

/** First cells of the table in docs/proofs.md of what no proof covers, by a short name. */
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

/** Where a block of each era is recorded, and its chain; `net` tells blocks of several chains apart. */
export const ERAS = {
  shanghai: { recording: 'row', number: 17686110, chainId: 1 },
  cancun: { recording: 'forks', number: 19433903, chainId: 1 },
  prague: { recording: 'forks', number: 22869878, chainId: 1 },
  op: { recording: 'optimism', number: 154497277, chainId: 10 },
  arbitrum: { recording: 'other-networks', net: 'arb-sepolia', number: 185232421, chainId: 421614 },
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

/** The table, by era and type. */
export const LIES: readonly Lies[] = TABLE.trim()
  .split('\n')
  .flatMap((line) => {
    const [eras, records, how, outcome, fields] = line.split(' | ') as [
      string,
      string,
      string,
      string,
      string,
    ];
    const [, kind, types] = /^(transaction|receipt|log)? ?(.*)$/.exec(records)!;
    const ofTypes = kind === undefined ? [records] : types!.split(' ').map((type) => `${kind} ${type}`);
    return eras.split(' ').flatMap((era) =>
      ofTypes.map((record) => ({
        ...({ era, record, how } as Pick<Lies, 'era' | 'record' | 'how'>),
        ...(outcome.startsWith('no: ')
          ? { because: outcome.slice(4) as keyof typeof UNPROVABLE }
          : { outcome }),
        fields: fields.split(' '),
      })),
    );
  });
