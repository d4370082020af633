import type { Kind } from '@packhouse/chain';
import type { ColumnType } from './schema.js';

/** How the value of a JSON member becomes that of a column. */
export type Form =
  /** QUANTITY (hex) or number; null beyond 63 bits, or 31 for INTEGER. */
  | 'BIGINT'
  | 'INTEGER'
  /** QUANTITY; null beyond 38 digits. */
  | 'DECIMAL(38,0)'
  /** QUANTITY as decimal text, exact. */
  | 'decimal text'
  | 'TEXT'
  | 'BOOLEAN'
  /** QUANTITY of seconds since 1970. */
  | 'TIMESTAMP'
  /** Any value, as canonical JSON. */
  | 'JSON';

/** A column and the member of the record that it has: `field`, `outer.field`, `list[index]` or `list.length`. */
interface FieldColumn {
  name: string;
  form: Form;
  field: string;
  required: boolean;
}

/** Versions of the tables: raised with every change of a column. */
export const SCHEMA_VERSIONS: Readonly<Record<Kind, number>> = {
  blocks: 1,
  transactions: 1,
  receipts: 1,
  logs: 1,
  traces: 1,
};

/** Columns of texts that are not bytes in hex: words, and quantities that may have an odd number of digits. */
export const NO_BYTES: ReadonlySet<string> = new Set([
  'trace_type',
  'call_type',
  'error',
  'reward_type',
  'r',
  's',
]);

/** The type of a column whose values have this form. */
export function getType(form: Form): ColumnType {
  return form === 'decimal text' ? 'TEXT' : form;
}

/** Reads lines of name, form and field, two spaces apart; `!` behind the form: every row has a value. */
function columns(text: string): FieldColumn[] {
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
    block_number              BIGINT!         number
    block_hash                TEXT!           hash
    parent_hash               TEXT!           parentHash
    block_timestamp           TIMESTAMP       timestamp
    miner                     TEXT!           miner
    gas_limit                 BIGINT          gasLimit
    gas_used                  BIGINT          gasUsed
    base_fee_per_gas          DECIMAL(38,0)   baseFeePerGas
    transaction_count         INTEGER!        transactions.length
    size                      BIGINT          size
    difficulty                DECIMAL(38,0)   difficulty
    total_difficulty          DECIMAL(38,0)   totalDifficulty
    nonce                     TEXT            nonce
    mix_hash                  TEXT            mixHash
    extra_data                TEXT!           extraData
    logs_bloom                TEXT!           logsBloom
    sha3_uncles               TEXT!           sha3Uncles
    transactions_root         TEXT!           transactionsRoot
    state_root                TEXT!           stateRoot
    receipts_root             TEXT!           receiptsRoot
    withdrawals_root          TEXT            withdrawalsRoot
    blob_gas_used             BIGINT          blobGasUsed
    excess_blob_gas           BIGINT          excessBlobGas
    parent_beacon_block_root  TEXT            parentBeaconBlockRoot
    requests_hash             TEXT            requestsHash
    uncles                    JSON            uncles
    withdrawals               JSON            withdrawals
  `),
  transactions: columns(`
    block_number              BIGINT!         blockNumber
    block_hash                TEXT!           blockHash
    block_timestamp           TIMESTAMP       blockTimestamp
    transaction_index         INTEGER!        transactionIndex
    transaction_hash          TEXT!           hash
    from_address              TEXT!           from
    to_address                TEXT            to
    value                     DECIMAL(38,0)   value
    value_text                decimal text    value
    input                     TEXT            input
    nonce                     BIGINT          nonce
    gas                       BIGINT          gas
    gas_price                 DECIMAL(38,0)   gasPrice
    max_fee_per_gas           DECIMAL(38,0)   maxFeePerGas
    max_priority_fee_per_gas  DECIMAL(38,0)   maxPriorityFeePerGas
    max_fee_per_blob_gas      DECIMAL(38,0)   maxFeePerBlobGas
    transaction_type          INTEGER         type
    chain_id                  BIGINT          chainId
    v                         BIGINT          v
    r                         TEXT            r
    s                         TEXT            s
    y_parity                  INTEGER         yParity
    access_list               JSON            accessList
    blob_versioned_hashes     JSON            blobVersionedHashes
    authorization_list        JSON            authorizationList
  `),
  receipts: columns(`
    block_number              BIGINT!         blockNumber
    block_hash                TEXT!           blockHash
    transaction_index         INTEGER!        transactionIndex
    transaction_hash          TEXT!           transactionHash
    from_address              TEXT            from
    to_address                TEXT            to
    contract_address          TEXT            contractAddress
    status                    INTEGER         status
    root                      TEXT            root
    gas_used                  BIGINT          gasUsed
    cumulative_gas_used       BIGINT          cumulativeGasUsed
    effective_gas_price       DECIMAL(38,0)   effectiveGasPrice
    blob_gas_used             BIGINT          blobGasUsed
    blob_gas_price            DECIMAL(38,0)   blobGasPrice
    transaction_type          INTEGER         type
    log_count                 INTEGER!        logs.length
    logs_bloom                TEXT!           logsBloom
  `),
  logs: columns(`
    block_number              BIGINT!         blockNumber
    block_hash                TEXT!           blockHash
    block_timestamp           TIMESTAMP       blockTimestamp
    transaction_index         INTEGER!        transactionIndex
    transaction_hash          TEXT!           transactionHash
    log_index                 INTEGER!        logIndex
    address                   TEXT!           address
    topic0                    TEXT            topics[0]
    topic1                    TEXT            topics[1]
    topic2                    TEXT            topics[2]
    topic3                    TEXT            topics[3]
    data                      TEXT!           data
    removed                   BOOLEAN!        removed
  `),
  traces: columns(`
    block_number              BIGINT!         blockNumber
    block_hash                TEXT!           blockHash
    transaction_position      INTEGER         transactionPosition
    transaction_hash          TEXT            transactionHash
    trace_address             JSON            traceAddress
    subtraces                 INTEGER         subtraces
    trace_type                TEXT!           type
    call_type                 TEXT            action.callType
    from_address              TEXT            action.from
    to_address                TEXT            action.to
    value                     DECIMAL(38,0)   action.value
    value_text                decimal text    action.value
    gas                       BIGINT          action.gas
    input                     TEXT            action.input
    init                      TEXT            action.init
    gas_used                  BIGINT          result.gasUsed
    output                    TEXT            result.output
    contract_address          TEXT            result.address
    code                      TEXT            result.code
    error                     TEXT            error
    selfdestruct_address      TEXT            action.address
    refund_address            TEXT            action.refundAddress
    balance                   DECIMAL(38,0)   action.balance
    author                    TEXT            action.author
    reward_type               TEXT            action.rewardType
  `),
};
