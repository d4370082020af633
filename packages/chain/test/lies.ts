/**
 * Lies about blocks: what becomes of a field that is changed by one nibble (`flip`) or left out (`drop`).
 *
 * eras (`all`: of each block) | record and types | how | outcome | fields. The outcome is the proof that fails, `form` (RECORD_INVALID), `written`
 * (the text is that of the truth all the same), or `no: ` and the reason why it goes unseen (a key of UNPROVABLE).
 */
const TABLE = `
arbitrum | block | flip | no: some | l1BlockNumber sendCount sendRoot
arbitrum | block | flip | written | size
cancun prague ecotone jovian | block | flip | headerHash | blobGasUsed excessBlobGas parentBeaconBlockRoot
cancun prague ecotone jovian | block | flip | written | size
prague jovian | block | flip | headerHash | requestsHash
shanghai | block | flip | no: size | size
shanghai cancun | block | flip | no: total | totalDifficulty
shanghai cancun prague ecotone jovian | block | flip | headerHash | withdrawalsRoot
all | block | flip | headerHash | baseFeePerGas difficulty extraData gasLimit gasUsed
all | block | flip | headerHash | hash logsBloom miner mixHash nonce number parentHash
all | block | flip | headerHash | receiptsRoot sha3Uncles stateRoot timestamp
all | block | flip | headerHash | transactionsRoot
arbitrum | block | drop | no: some | l1BlockNumber sendCount sendRoot
cancun prague | block | drop | no: withdrawals | withdrawals
cancun prague ecotone jovian | block | drop | headerHash | blobGasUsed excessBlobGas parentBeaconBlockRoot
cancun prague ecotone jovian | block | drop | written | size
ecotone jovian | block | drop | written | withdrawals
prague jovian | block | drop | headerHash | requestsHash
shanghai | block | drop | form | size
arbitrum | block | drop | written | size
shanghai cancun | block | drop | no: total | totalDifficulty
shanghai cancun prague ecotone jovian | block | drop | headerHash | withdrawalsRoot
all | block | drop | headerHash | baseFeePerGas
all | block | drop | form | difficulty extraData gasLimit gasUsed hash logsBloom miner
all | block | drop | form | mixHash nonce number parentHash receiptsRoot sha3Uncles
all | block | drop | form | stateRoot timestamp transactions transactionsRoot uncles
cancun prague | withdrawal | flip | withdrawalsRoot | address amount index validatorIndex
cancun prague | withdrawal | drop | form | address amount index validatorIndex
arbitrum | transaction 0x2 | flip | consistency | gas gasPrice v value
arbitrum | transaction 0x6a | flip | consistency | from
arbitrum | transaction 0x6a | flip | no: otherType | gas gasPrice nonce r s v value
arbitrum | transaction 0x6a 0x2 | flip | consistency | blockHash blockNumber chainId hash input to transactionIndex
arbitrum | transaction 0x6a 0x2 | flip | form | type
cancun | transaction 0x3 | flip | consistency | blockHash blockNumber chainId gas gasPrice hash input maxFeePerBlobGas
cancun | transaction 0x3 | flip | consistency | maxFeePerGas maxPriorityFeePerGas nonce r s to transactionIndex type v
cancun | transaction 0x3 | flip | consistency | value yParity
cancun | transaction 0x3 | flip | senders | from
ecotone jovian | transaction 0x2 | flip | consistency | chainId
ecotone jovian | transaction 0x7e | flip | consistency | from sourceHash
ecotone | transaction 0x7e | flip | consistency | isSystemTx nonce
jovian | transaction 0x7e | flip | consistency | mint
ecotone jovian | transaction 0x7e | flip | consistency | depositReceiptVersion r s
ecotone jovian | transaction 0x7e 0x2 | flip | consistency | blockHash blockNumber gas gasPrice hash input to
jovian | transaction 0x7e 0x2 | flip | consistency | blockTimestamp
ecotone jovian | transaction 0x7e 0x2 | flip | consistency | transactionIndex v value
jovian | transaction 0x7e 0x2 | flip | consistency | yParity
ecotone | transaction 0x2 | flip | consistency | yParity
ecotone jovian | transaction 0x7e 0x2 | flip | form | type
ecotone jovian arbitrum | transaction 0x2 | flip | consistency | nonce r s
ecotone jovian arbitrum | transaction 0x2 | flip | senders | from
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
shanghai ecotone jovian arbitrum | transaction 0x2 | flip | consistency | maxFeePerGas maxPriorityFeePerGas
arbitrum | transaction 0x6a | drop | form | chainId
arbitrum | transaction 0x6a | drop | no: otherType | gasPrice nonce r s v
arbitrum | transaction 0x6a 0x2 | drop | form | blockHash blockNumber from gas hash input to transactionIndex value
arbitrum | transaction 0x6a 0x2 | drop | consistency | type
cancun | transaction 0x3 | drop | form | blockHash blockNumber from gas gasPrice hash input maxFeePerBlobGas
cancun | transaction 0x3 | drop | form | maxFeePerGas maxPriorityFeePerGas nonce r s to transactionIndex value
cancun | transaction 0x3 | drop | consistency | blobVersionedHashes type
cancun | transaction 0x3 | drop | written | accessList chainId v yParity
ecotone jovian | transaction 0x7e | drop | form | sourceHash
ecotone | transaction 0x7e | drop | consistency | type
jovian | transaction 0x7e | drop | form | type
ecotone | transaction 0x7e | drop | no: deposit | isSystemTx nonce
ecotone jovian | transaction 0x7e | drop | no: deposit | depositReceiptVersion gasPrice r s v
jovian | transaction 0x7e | drop | no: deposit | mint yParity
ecotone jovian | transaction 0x7e 0x2 | drop | form | blockHash blockNumber from gas hash input to transactionIndex value
jovian | transaction 0x7e 0x2 | drop | no: some | blockTimestamp
ecotone jovian arbitrum | transaction 0x2 | drop | form | gasPrice nonce r s
ecotone jovian arbitrum | transaction 0x2 | drop | written | chainId
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
shanghai ecotone jovian | transaction 0x2 | drop | consistency | type
shanghai ecotone jovian arbitrum | transaction 0x2 | drop | form | maxFeePerGas maxPriorityFeePerGas
shanghai ecotone jovian arbitrum | transaction 0x2 | drop | written | accessList v yParity
arbitrum | receipt 0x6a 0x2 | flip | consistency | blockHash blockNumber cumulativeGasUsed from gasUsed to
arbitrum | receipt 0x6a 0x2 | flip | consistency | transactionHash transactionIndex type
arbitrum | receipt 0x6a 0x2 | flip | logsBloom | logsBloom
arbitrum | receipt 0x6a 0x2 | flip | receiptsRoot | status
arbitrum | receipt 0x2 | flip | consistency | contractAddress
arbitrum | receipt 0x6a | flip | no: otherRules | contractAddress
arbitrum | receipt 0x2 | flip | consistency | effectiveGasPrice
arbitrum | receipt 0x6a | flip | no: otherType | effectiveGasPrice
arbitrum | receipt 0x6a 0x2 | flip | no: some | gasUsedForL1 l1BlockNumber timeboosted
cancun | receipt 0x3 | flip | consistency | blobGasUsed blockHash blockNumber contractAddress cumulativeGasUsed
cancun | receipt 0x3 | flip | consistency | effectiveGasPrice from gasUsed to transactionHash transactionIndex type
cancun | receipt 0x3 | flip | logsBloom | logsBloom
cancun | receipt 0x3 | flip | receiptsRoot | status
cancun | receipt 0x3 | flip | written | blobGasPrice
ecotone jovian | receipt 0x7e | flip | receiptsRoot | depositNonce depositReceiptVersion
ecotone jovian | receipt 0x7e 0x2 | flip | consistency | blockHash blockNumber contractAddress cumulativeGasUsed effectiveGasPrice
ecotone jovian | receipt 0x7e 0x2 | flip | consistency | from gasUsed to transactionHash transactionIndex type
ecotone jovian | receipt 0x7e 0x2 | flip | logsBloom | logsBloom
ecotone jovian | receipt 0x7e 0x2 | flip | receiptsRoot | status
jovian | receipt 0x2 | flip | consistency | blobGasUsed
jovian | receipt 0x7e | flip | no: opFees | blobGasUsed
jovian | receipt 0x7e 0x2 | flip | no: opFees | daFootprintGasScalar l1BaseFeeScalar l1BlobBaseFee
jovian | receipt 0x7e 0x2 | flip | no: opFees | l1BlobBaseFeeScalar l1Fee l1GasPrice l1GasUsed
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
cancun | receipt 0x3 | drop | written | blobGasPrice blobGasUsed contractAddress effectiveGasPrice from to type
ecotone jovian | receipt 0x2 | drop | written | effectiveGasPrice
ecotone jovian | receipt 0x7e | drop | no: deposit | effectiveGasPrice
ecotone jovian | receipt 0x7e | drop | receiptsRoot | depositNonce depositReceiptVersion
ecotone jovian | receipt 0x7e 0x2 | drop | form | blockHash blockNumber cumulativeGasUsed gasUsed logs logsBloom
ecotone jovian | receipt 0x7e 0x2 | drop | form | status transactionHash transactionIndex
ecotone jovian | receipt 0x7e 0x2 | drop | written | contractAddress from to type
jovian | receipt 0x2 | drop | consistency | blobGasUsed daFootprintGasScalar
jovian | receipt 0x7e | drop | consistency | daFootprintGasScalar
jovian | receipt 0x7e | drop | no: opFees | blobGasUsed
jovian | receipt 0x7e 0x2 | drop | no: opFees | l1BaseFeeScalar l1BlobBaseFee
jovian | receipt 0x7e 0x2 | drop | no: opFees | l1BlobBaseFeeScalar l1Fee l1GasPrice l1GasUsed
prague | receipt 0x4 0x1 | drop | form | blockHash blockNumber cumulativeGasUsed gasUsed logs
prague | receipt 0x4 0x1 | drop | form | logsBloom status transactionHash transactionIndex
prague | receipt 0x4 0x1 | drop | written | contractAddress effectiveGasPrice from to type
shanghai | receipt 0x2 0x0 | drop | form | blockHash blockNumber cumulativeGasUsed gasUsed logs
shanghai | receipt 0x2 0x0 | drop | form | logsBloom status transactionHash transactionIndex
shanghai | receipt 0x2 0x0 | drop | written | contractAddress effectiveGasPrice from to type
cancun | log 0x3 | flip | logsBloom | address
cancun | log 0x3 | flip | receiptsRoot | data
cancun | log 0x3 | flip | consistency | blockHash blockNumber logIndex removed transactionHash transactionIndex
jovian | log 0x2 | flip | consistency | blockTimestamp
ecotone jovian arbitrum | log 0x2 | flip | logsBloom | address
ecotone jovian arbitrum | log 0x2 | flip | receiptsRoot | data
ecotone jovian arbitrum | log 0x2 | flip | consistency | blockHash blockNumber logIndex removed transactionHash transactionIndex
prague | log 0x4 0x1 | flip | logsBloom | address
prague | log 0x4 0x1 | flip | receiptsRoot | data
prague | log 0x4 0x1 | flip | consistency | blockHash blockNumber logIndex removed transactionHash transactionIndex
shanghai | log 0x2 0x0 | flip | logsBloom | address
shanghai | log 0x2 0x0 | flip | receiptsRoot | data
shanghai | log 0x2 0x0 | flip | consistency | blockHash blockNumber logIndex removed transactionHash transactionIndex
cancun | log 0x3 | drop | form | address blockHash blockNumber data logIndex topics transactionHash
cancun | log 0x3 | drop | written | removed
cancun | log 0x3 | drop | form | transactionIndex
jovian | log 0x2 | drop | no: some | blockTimestamp
ecotone jovian arbitrum | log 0x2 | drop | form | address blockHash blockNumber data logIndex topics transactionHash
ecotone jovian arbitrum | log 0x2 | drop | written | removed
ecotone jovian arbitrum | log 0x2 | drop | form | transactionIndex
prague | log 0x4 0x1 | drop | form | address blockHash blockNumber data logIndex topics transactionHash
prague | log 0x4 0x1 | drop | written | removed
prague | log 0x4 0x1 | drop | form | transactionIndex
shanghai | log 0x2 0x0 | drop | form | address blockHash blockNumber data logIndex topics transactionHash
shanghai | log 0x2 0x0 | drop | written | removed
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
  contract: '`contractAddress` of a creation that failed',
  blobGasPrice: '`blobGasPrice` since the last fork that is known',
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

/** Where a block of each era is recorded, and its chain; `net` tells blocks of several chains apart. Ecotone and Jovian are of OP. */
export const ERAS = {
  shanghai: { recording: 'row', number: 17686110, chainId: 1 },
  cancun: { recording: 'forks', number: 19433903, chainId: 1 },
  prague: { recording: 'forks', number: 22869878, chainId: 1 },
  ecotone: { recording: 'optimism', number: 121003241, chainId: 10 },
  jovian: { recording: 'optimism', number: 154497277, chainId: 10 },
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
    return (eras === 'all' ? Object.keys(ERAS) : eras.split(' ')).flatMap((era) =>
      ofTypes.map((record) => ({
        ...({ era, record, how } as Pick<Lies, 'era' | 'record' | 'how'>),
        ...(outcome.startsWith('no: ')
          ? { because: outcome.slice(4) as keyof typeof UNPROVABLE }
          : { outcome }),
        fields: fields.split(' '),
      })),
    );
  });
