import type { Kind } from '@packhouse/chain';
import type { FieldColumn } from './field-column.js';
import type { Peer } from './schema.js';
import { columns } from './schemas.js';

/** `numeric` of ethereum-etl: DECIMAL(38,0) in tables, as its Parquet has it, and all digits in text. */
const NUMERIC = 'DECIMAL(38,0)';

/**
 * The columns of other programs, in their order: cryo 0.3.2 by default (`cryo help <dataset>`), ethereum-etl by its
 * docs/schema.md. A kind that is absent has no table there. `hex` is bytes for cryo, and text for ethereum-etl.
 */
export const PEER_COLUMNS: Readonly<Record<Peer, Partial<Record<Kind, readonly FieldColumn[]>>>> = {
  cryo: {
    blocks: columns(`
      block_hash                hex!            hash
      author                    hex!            miner
      block_number              UINTEGER!       number
      gas_used                  UBIGINT!        gasUsed
      extra_data                hex!            extraData
      timestamp                 UINTEGER!       timestamp
      base_fee_per_gas          UBIGINT         baseFeePerGas
      chain_id                  UBIGINT!        @chain
    `),
    transactions: columns(`
      block_number              UINTEGER!       blockNumber
      transaction_index         UBIGINT!        transactionIndex
      transaction_hash          hex!            hash
      nonce                     UBIGINT         nonce
      from_address              hex!            from
      to_address                hex             to
      value_binary              word            value
      value_string              decimal text    value
      value_f64                 DOUBLE          value
      input                     hex             input
      gas_limit                 UBIGINT         gas
      gas_used                  UBIGINT         receipt.gasUsed
      gas_price                 UBIGINT         gasPrice
      transaction_type          UINTEGER        type
      max_priority_fee_per_gas  UBIGINT         maxPriorityFeePerGas
      max_fee_per_gas           UBIGINT         maxFeePerGas
      success                   flag            receipt.status
      n_input_bytes             byte count      input
      n_input_zero_bytes        zero bytes      input
      n_input_nonzero_bytes     other bytes     input
      chain_id                  UBIGINT!        @chain
    `),
    logs: columns(`
      block_number              UINTEGER!       blockNumber
      transaction_index         UINTEGER!       transactionIndex
      log_index                 UINTEGER!       logIndex
      transaction_hash          hex!            transactionHash
      address                   hex!            address
      topic0                    hex             topics[0]
      topic1                    hex             topics[1]
      topic2                    hex             topics[2]
      topic3                    hex             topics[3]
      data                      hex!            data
      n_data_bytes              byte count      data
      chain_id                  UBIGINT!        @chain
    `),
    traces: columns(`
      action_from               hex             action.from|action.address|action.author
      action_to                 hex             action.to|action.refundAddress
      action_value              decimal text    action.value|action.balance
      action_gas                UINTEGER        action.gas
      action_input              hex             action.input
      action_call_type          cryo call type  action.callType
      action_init               hex             action.init
      action_reward_type        cryo reward type  action.rewardType
      action_type               TEXT!           type
      result_gas_used           UINTEGER        result.gasUsed
      result_output             hex             result.output
      result_code               hex             result.code
      result_address            hex             result.address
      trace_address             joined by _     traceAddress
      subtraces                 UINTEGER        subtraces
      transaction_index         UINTEGER        transactionPosition
      transaction_hash          hex             transactionHash
      block_number              UINTEGER!       blockNumber
      block_hash                hex!            blockHash
      error                     TEXT            error
      chain_id                  UBIGINT!        @chain
    `),
  },
  'ethereum-etl': {
    blocks: columns(`
      number                    BIGINT!         number
      hash                      hex!            hash
      parent_hash               hex!            parentHash
      nonce                     TEXT            nonce
      sha3_uncles               hex             sha3Uncles
      logs_bloom                hex             logsBloom
      transactions_root         hex             transactionsRoot
      state_root                hex             stateRoot
      receipts_root             hex             receiptsRoot
      miner                     hex             miner
      difficulty                ${NUMERIC}      difficulty
      total_difficulty          ${NUMERIC}      totalDifficulty
      size                      BIGINT          size
      extra_data                hex             extraData
      gas_limit                 BIGINT          gasLimit
      gas_used                  BIGINT          gasUsed
      timestamp                 BIGINT          timestamp
      transaction_count         BIGINT!         transactions.length
      base_fee_per_gas          BIGINT          baseFeePerGas
    `),
    transactions: columns(`
      hash                      hex!            hash
      nonce                     BIGINT          nonce
      block_hash                hex!            blockHash
      block_number              BIGINT!         blockNumber
      transaction_index         BIGINT!         transactionIndex
      from_address              hex!            from
      to_address                hex             to
      value                     ${NUMERIC}      value
      gas                       BIGINT          gas
      gas_price                 BIGINT          gasPrice
      input                     hex             input
      block_timestamp           BIGINT          @time
      max_fee_per_gas           BIGINT          maxFeePerGas
      max_priority_fee_per_gas  BIGINT          maxPriorityFeePerGas
      transaction_type          BIGINT          type
    `),
    receipts: columns(`
      transaction_hash          hex!            transactionHash
      transaction_index         BIGINT!         transactionIndex
      block_hash                hex!            blockHash
      block_number              BIGINT!         blockNumber
      cumulative_gas_used       BIGINT          cumulativeGasUsed
      gas_used                  BIGINT          gasUsed
      contract_address          hex             contractAddress
      root                      hex             root
      status                    BIGINT          status
      effective_gas_price       BIGINT          effectiveGasPrice
    `),
    logs: columns(`
      log_index                 BIGINT!         logIndex
      transaction_hash          hex!            transactionHash
      transaction_index         BIGINT!         transactionIndex
      block_hash                hex!            blockHash
      block_number              BIGINT!         blockNumber
      address                   hex!            address
      data                      hex!            data
      topics                    joined by ,     topics
    `),
    traces: columns(`
      block_number              BIGINT!         blockNumber
      transaction_hash          hex             transactionHash
      transaction_index         BIGINT          transactionPosition
      from_address              hex             action.from|action.address
      to_address                hex             action.to|result.address|action.refundAddress|action.author
      value                     ${NUMERIC}      action.value|action.balance
      input                     hex             action.input|action.init
      output                    hex             result.output|result.code
      trace_type                TEXT!           type
      call_type                 TEXT            action.callType
      reward_type               TEXT            action.rewardType
      gas                       BIGINT          action.gas
      gas_used                  BIGINT          result.gasUsed
      subtraces                 BIGINT          subtraces
      trace_address             joined by ,     traceAddress
      error                     TEXT            error
      status                    BIGINT          @status
      trace_id                  TEXT            @id
    `),
  },
};
