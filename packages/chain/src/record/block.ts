import {
  addJsonPair,
  addPair,
  BLOCK_FIELDS,
  countPresent,
  moreFields,
  type Pairs,
  UNLISTED_FIELDS,
} from './fields.js';
import { member, stringArray } from './json-text.js';
import type { Optional, Reader } from './reader.js';

/** A block's own fields in canonical form, without its transactions. */
export interface BlockRecord {
  number: string;
  hash: string;
  parentHash: string;
  nonce: Optional<string>;
  sha3Uncles: string;
  logsBloom: string;
  transactionsRoot: string;
  stateRoot: string;
  receiptsRoot: string;
  miner: string;
  mixHash: Optional<string>;
  difficulty: string;
  totalDifficulty: Optional<string>;
  extraData: string;
  size: string;
  gasLimit: string;
  gasUsed: string;
  timestamp: string;
  uncles: string[];
  baseFeePerGas: Optional<string>;
  withdrawalsRoot: Optional<string>;
  blobGasUsed: Optional<string>;
  excessBlobGas: Optional<string>;
  parentBeaconBlockRoot: Optional<string>;
  requestsHash: Optional<string>;
  /** Absent if the node omitted the array. */
  withdrawals: Withdrawal[] | undefined;
  /** As the node sent them. */
  transactions: readonly unknown[];
  /** The members that the record's table does not name, as canonical JSON, each after a comma. */
  more: string;
}

/** Seals of proof of work and the like: the header hash needs them, so they may be absent only with `trust`. */
type Seals = 'required' | 'optional';

/** Reads a block's own fields; sets the reader's block number first, so that every error names the block. */
export function readBlock(reader: Reader, value: unknown, seals: Seals): BlockRecord {
  const raw = reader.object(value, 'the block');
  const number = reader.quantity(raw.number, 'number');
  reader.block = reader.number(number, 'number');
  const seal = (name: 'nonce' | 'mixHash', length: number) =>
    seals === 'required'
      ? reader.bytes(raw[name], name, length)
      : reader.optionalBytes(raw[name], name, length);
  const record: BlockRecord = {
    number,
    hash: reader.bytes(raw.hash, 'hash', 32),
    parentHash: reader.bytes(raw.parentHash, 'parentHash', 32),
    nonce: seal('nonce', 8),
    sha3Uncles: reader.bytes(raw.sha3Uncles, 'sha3Uncles', 32),
    logsBloom: reader.bytes(raw.logsBloom, 'logsBloom', 256),
    transactionsRoot: reader.bytes(raw.transactionsRoot, 'transactionsRoot', 32),
    stateRoot: reader.bytes(raw.stateRoot, 'stateRoot', 32),
    receiptsRoot: reader.bytes(raw.receiptsRoot, 'receiptsRoot', 32),
    miner: reader.bytes(raw.miner, 'miner', 20),
    mixHash: seal('mixHash', 32),
    difficulty: reader.quantity(raw.difficulty, 'difficulty'),
    totalDifficulty: reader.optionalQuantity(raw.totalDifficulty, 'totalDifficulty'),
    extraData: reader.data(raw.extraData, 'extraData'),
    size: reader.quantity(raw.size, 'size'),
    gasLimit: reader.quantity(raw.gasLimit, 'gasLimit'),
    gasUsed: reader.quantity(raw.gasUsed, 'gasUsed'),
    timestamp: reader.quantity(raw.timestamp, 'timestamp'),
    uncles: reader.items(raw.uncles, 'uncles', (hash) => reader.bytes(hash, 'uncles', 32)),
    baseFeePerGas: reader.optionalQuantity(raw.baseFeePerGas, 'baseFeePerGas'),
    withdrawalsRoot: reader.optionalBytes(raw.withdrawalsRoot, 'withdrawalsRoot', 32),
    blobGasUsed: reader.optionalQuantity(raw.blobGasUsed, 'blobGasUsed'),
    excessBlobGas: reader.optionalQuantity(raw.excessBlobGas, 'excessBlobGas'),
    parentBeaconBlockRoot: reader.optionalBytes(raw.parentBeaconBlockRoot, 'parentBeaconBlockRoot', 32),
    requestsHash: reader.optionalBytes(raw.requestsHash, 'requestsHash', 32),
    withdrawals: undefined,
    transactions: reader.array(raw.transactions, 'transactions'),
    more: '',
  };
  let withdrawals: string | undefined;
  if (raw.withdrawals != null) {
    record.withdrawals = reader.items(raw.withdrawals, 'withdrawals', (entry, index) => {
      reader.at('withdrawal', index);
      return readWithdrawal(reader, entry);
    });
    reader.at('block', 0);
    withdrawals = `[${record.withdrawals.map((entry) => entry.text).join(',')}]`;
  } else if (reader.missing(raw.withdrawals) === null) {
    withdrawals = 'null';
  }
  const pairs: Pairs = [];
  addPair(pairs, 'blobGasUsed', record.blobGasUsed);
  addPair(pairs, 'excessBlobGas', record.excessBlobGas);
  addPair(pairs, 'parentBeaconBlockRoot', record.parentBeaconBlockRoot);
  addPair(pairs, 'requestsHash', record.requestsHash);
  addJsonPair(pairs, 'withdrawals', withdrawals);
  addPair(pairs, 'withdrawalsRoot', record.withdrawalsRoot);
  const optional = countPresent(raw.nonce, raw.mixHash, raw.totalDifficulty, raw.baseFeePerGas);
  record.more = moreFields(reader, raw, BLOCK_FIELDS, 17 + optional, pairs);
  return record;
}

/** A withdrawal from the beacon chain (EIP-4895), in canonical form. */
export interface Withdrawal {
  index: string;
  validatorIndex: string;
  address: string;
  /** In Gwei. */
  amount: string;
  /** The whole record as canonical JSON. */
  text: string;
}

/** Reads one entry of a block's `withdrawals`. */
function readWithdrawal(reader: Reader, value: unknown): Withdrawal {
  const raw = reader.object(value, 'the withdrawal');
  const index = reader.quantity(raw.index, 'index');
  const validatorIndex = reader.quantity(raw.validatorIndex, 'validatorIndex');
  const address = reader.bytes(raw.address, 'address', 20);
  const amount = reader.quantity(raw.amount, 'amount');
  const pairs: Pairs = [];
  addPair(pairs, 'address', address);
  addPair(pairs, 'amount', amount);
  addPair(pairs, 'index', index);
  addPair(pairs, 'validatorIndex', validatorIndex);
  const members = moreFields(reader, raw, UNLISTED_FIELDS, 0, pairs);
  return { index, validatorIndex, address, amount, text: `{${members.slice(1)}}` };
}

/** The two pieces of a block's text; its array of transactions belongs between them. */
export function blockText(block: BlockRecord): { head: string; tail: string } {
  const head =
    `{"number":"${block.number}","hash":"${block.hash}","parentHash":"${block.parentHash}"` +
    member('nonce', block.nonce) +
    `,"sha3Uncles":"${block.sha3Uncles}","logsBloom":"${block.logsBloom}"` +
    `,"transactionsRoot":"${block.transactionsRoot}","stateRoot":"${block.stateRoot}"` +
    `,"receiptsRoot":"${block.receiptsRoot}","miner":"${block.miner}"` +
    member('mixHash', block.mixHash) +
    `,"difficulty":"${block.difficulty}"` +
    member('totalDifficulty', block.totalDifficulty) +
    `,"extraData":"${block.extraData}","size":"${block.size}","gasLimit":"${block.gasLimit}"` +
    `,"gasUsed":"${block.gasUsed}","timestamp":"${block.timestamp}","transactions":`;
  const tail = `,"uncles":${stringArray(block.uncles)}${member('baseFeePerGas', block.baseFeePerGas)}${block.more}}`;
  return { head, tail };
}
