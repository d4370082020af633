import type { Kind } from '@packhouse/chain';
import type { FieldColumn, Form } from './field-column.js';

/** Versions of the tables: raised with every change of a column. */
export const SCHEMA_VERSIONS: Readonly<Record<Kind, number>> = {
  blocks: 2,
  transactions: 2,
  receipts: 2,
  logs: 2,
  traces: 2,
};

/** Reads lines of name, form and field, two spaces apart; `!` behind the form: every row has a value. */
export function columns(text: string): FieldColumn[] {
  const lines = text.trim().split('\n');
  return lines.map((line) => {
    const [name, form, field] = line.trim().split(/ {2,}/) as [string, string, string];
    return { name, form: form.replace('!', '') as Form, field, required: form.endsWith('!') };
  });
}

/**
 * The columns of each kind but `extra`, which all have: a JSON object of what no column has, or null.
 *
 * Names of accounts end in `_address` where the JSON name is a word of SQL (`from`, `to`).
 */
export const FIELD_COLUMNS: Readonly<Record<Kind, readonly FieldColumn[]>> = {
  blocks: columns(`
    block_number                   BIGINT!         number
    block_hash                     hex!            hash
    parent_hash                    hex!            parentHash
    block_timestamp                TIMESTAMP       timestamp
    miner                          hex!            miner
    gas_limit                      BIGINT          gasLimit
    gas_used                       BIGINT          gasUsed
    base_fee_per_gas               DECIMAL(38,0)   baseFeePerGas
    base_fee_per_gas_double        DOUBLE          baseFeePerGas
    transaction_count              INTEGER!        transactions.length
    size                           BIGINT          size
    difficulty                     DECIMAL(38,0)   difficulty
    difficulty_double              DOUBLE          difficulty
    total_difficulty               DECIMAL(38,0)   totalDifficulty
    total_difficulty_double        DOUBLE          totalDifficulty
    nonce                          hex             nonce
    mix_hash                       hex             mixHash
    extra_data                     hex!            extraData
    logs_bloom                     hex!            logsBloom
    sha3_uncles                    hex!            sha3Uncles
    transactions_root              hex!            transactionsRoot
    state_root                     hex!            stateRoot
    receipts_root                  hex!            receiptsRoot
    withdrawals_root               hex             withdrawalsRoot
    blob_gas_used                  BIGINT          blobGasUsed
    excess_blob_gas                BIGINT          excessBlobGas
    parent_beacon_block_root       hex             parentBeaconBlockRoot
    requests_hash                  hex             requestsHash
    uncles                         JSON            uncles
    withdrawals                    JSON            withdrawals
    chain_id                       BIGINT!         @chain
  `),
  transactions: columns(`
    block_number                   BIGINT!         blockNumber
    block_hash                     hex!            blockHash
    block_timestamp                TIMESTAMP       @time
    transaction_index              INTEGER!        transactionIndex
    transaction_hash               hex!            hash
    from_address                   hex!            from
    to_address                     hex             to
    value                          DECIMAL(38,0)   value
    value_double                   DOUBLE          value
    value_text                     decimal text    value
    input                          hex             input
    nonce                          BIGINT          nonce
    gas                            BIGINT          gas
    gas_price                      DECIMAL(38,0)   gasPrice
    gas_price_double               DOUBLE          gasPrice
    max_fee_per_gas                DECIMAL(38,0)   maxFeePerGas
    max_fee_per_gas_double         DOUBLE          maxFeePerGas
    max_priority_fee_per_gas       DECIMAL(38,0)   maxPriorityFeePerGas
    max_priority_fee_per_gas_double  DOUBLE          maxPriorityFeePerGas
    max_fee_per_blob_gas           DECIMAL(38,0)   maxFeePerBlobGas
    max_fee_per_blob_gas_double    DOUBLE          maxFeePerBlobGas
    transaction_type               INTEGER         type
    v                              BIGINT          v
    r                              TEXT            r
    s                              TEXT            s
    y_parity                       INTEGER         yParity
    status                         INTEGER         receipt.status
    gas_used                       BIGINT          receipt.gasUsed
    effective_gas_price            DECIMAL(38,0)   receipt.effectiveGasPrice
    effective_gas_price_double     DOUBLE          receipt.effectiveGasPrice
    access_list                    JSON            accessList
    blob_versioned_hashes          JSON            blobVersionedHashes
    authorization_list             JSON            authorizationList
    chain_id                       BIGINT!         @chain
  `),
  receipts: columns(`
    block_number                   BIGINT!         blockNumber
    block_hash                     hex!            blockHash
    block_timestamp                TIMESTAMP       @time
    transaction_index              INTEGER!        transactionIndex
    transaction_hash               hex!            transactionHash
    from_address                   hex             from
    to_address                     hex             to
    contract_address               hex             contractAddress
    status                         INTEGER         status
    root                           hex             root
    gas_used                       BIGINT          gasUsed
    cumulative_gas_used            BIGINT          cumulativeGasUsed
    effective_gas_price            DECIMAL(38,0)   effectiveGasPrice
    effective_gas_price_double     DOUBLE          effectiveGasPrice
    blob_gas_used                  BIGINT          blobGasUsed
    blob_gas_price                 DECIMAL(38,0)   blobGasPrice
    blob_gas_price_double          DOUBLE          blobGasPrice
    transaction_type               INTEGER         type
    log_count                      INTEGER!        logs.length
    logs_bloom                     hex!            logsBloom
    chain_id                       BIGINT!         @chain
  `),
  logs: columns(`
    block_number                   BIGINT!         blockNumber
    block_hash                     hex!            blockHash
    block_timestamp                TIMESTAMP       @time
    transaction_index              INTEGER!        transactionIndex
    transaction_hash               hex!            transactionHash
    log_index                      INTEGER!        logIndex
    address                        hex!            address
    topic0                         hex             topics[0]
    topic1                         hex             topics[1]
    topic2                         hex             topics[2]
    topic3                         hex             topics[3]
    data                           hex!            data
    removed                        BOOLEAN!        removed
    chain_id                       BIGINT!         @chain
  `),
  traces: columns(`
    block_number                   BIGINT!         blockNumber
    block_hash                     hex!            blockHash
    block_timestamp                TIMESTAMP       @time
    transaction_position           INTEGER         transactionPosition
    transaction_hash               hex             transactionHash
    trace_address                  JSON            traceAddress
    subtraces                      INTEGER         subtraces
    trace_type                     TEXT!           type
    call_type                      TEXT            action.callType
    from_address                   hex             action.from
    to_address                     hex             action.to
    value                          DECIMAL(38,0)   action.value
    value_double                   DOUBLE          action.value
    value_text                     decimal text    action.value
    gas                            BIGINT          action.gas
    input                          hex             action.input
    init                           hex             action.init
    gas_used                       BIGINT          result.gasUsed
    output                         hex             result.output
    contract_address               hex             result.address
    code                           hex             result.code
    error                          TEXT            error
    selfdestruct_address           hex             action.address
    refund_address                 hex             action.refundAddress
    balance                        DECIMAL(38,0)   action.balance
    balance_double                 DOUBLE          action.balance
    author                         hex             action.author
    reward_type                    TEXT            action.rewardType
    chain_id                       BIGINT!         @chain
  `),
};
