import { ETHEREUM_HEADER } from '../rules/ethereum.js';
import { headerFields } from '../rules/find-rules.js';
import type { Form, HeaderPart } from '../rules/rule-set.js';
import {
  addJsonPair,
  addPair,
  BLOCK_FIELDS,
  countPresent,
  type FieldTable,
  moreFields,
  type Pairs,
  readForm,
  UNLISTED_FIELDS,
} from './fields.js';
import { isKeepable, member, stringArray } from './json-text.js';
import type { Raw, Reader } from './reader.js';

/** How a block is read. */
interface BlockForm {
  /**
   * Seals of proof of work and the like: the header hash needs them, so they may be absent only with `trust`, or where
   * Authority Round has others in their place.
   */
  seals: 'required' | 'optional';
  header?: readonly HeaderPart[];
}

/** A block's own fields in canonical form, without its transactions. */
export type BlockRecord = ReturnType<typeof readBlock>;

/** Reads a block's own fields; sets the reader's block number first, so that every error names the block. */
export function readBlock(reader: Reader, value: unknown, { seals, header = ETHEREUM_HEADER }: BlockForm) {
  const raw = reader.object(value, 'the block');
  const number = reader.quantity(raw.number, 'number');
  reader.block = reader.number(number, 'number');
  const seal = (name: 'nonce' | 'mixHash', length: number) =>
    seals === 'required' && (raw.auraSeal ?? raw.signature) === undefined
      ? reader.bytes(raw[name], name, length)
      : reader.optionalBytes(raw[name], name, length);
  const record = {
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
    blockAccessListHash: reader.optionalBytes(raw.blockAccessListHash, 'blockAccessListHash', 32),
    slotNumber: reader.optionalQuantity(raw.slotNumber, 'slotNumber'),
    /** Values of the header fields that Ethereum's header lacks, by name; those in an object as `object.name`. */
    others: header === ETHEREUM_HEADER ? NONE : readOthers(reader, raw, header),
    /** Absent if the node omitted the array. */
    withdrawals: undefined as Withdrawal[] | undefined,
    /** As the node sent them. */
    transactions: reader.array(raw.transactions, 'transactions'),
    /** The members that the record's table does not name, as canonical JSON, each after a comma. */
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
  addPair(pairs, 'blockAccessListHash', record.blockAccessListHash);
  addPair(pairs, 'excessBlobGas', record.excessBlobGas);
  addPair(pairs, 'parentBeaconBlockRoot', record.parentBeaconBlockRoot);
  addPair(pairs, 'requestsHash', record.requestsHash);
  addPair(pairs, 'slotNumber', record.slotNumber);
  addJsonPair(pairs, 'withdrawals', withdrawals);
  addPair(pairs, 'withdrawalsRoot', record.withdrawalsRoot);
  const optional = countPresent(raw.nonce, raw.mixHash, raw.totalDifficulty, raw.baseFeePerGas);
  record.more = moreFields(reader, raw, tableFor(header), 17 + optional, pairs);
  return record;
}

const NONE: ReadonlyMap<string, string> = new Map();
const ETHEREUM_NAMES: ReadonlySet<string> = new Set(ETHEREUM_HEADER.map(({ name }) => name));

/** The header fields beyond Ethereum's; each is absent if the node lacks it, which then shows in the hash. */
function readOthers(reader: Reader, raw: Raw, header: readonly HeaderPart[]): Map<string, string> {
  const others = new Map<string, string>();
  for (const { name, form, or, of } of headerFields(header)) {
    if (of === undefined && ETHEREUM_NAMES.has(name)) continue;
    const holder = of === undefined ? raw : raw[of] == null ? {} : reader.object(raw[of], of);
    const value = holder[name] ?? (or === undefined ? undefined : holder[or]);
    if (value == null) continue;
    others.set(of === undefined ? name : `${of}.${name}`, readForm(reader, value, name, form));
  }
  return others;
}

/** A table that keeps the header's fields, so that the hash follows from the text too. */
function tableFor(header: readonly HeaderPart[]): FieldTable {
  if (header === ETHEREUM_HEADER) return BLOCK_FIELDS;
  const names = headerFields(header).flatMap(({ name, or, of }) => [of ?? name, or ?? name]);
  return { ...BLOCK_FIELDS, kept: new Set([...BLOCK_FIELDS.kept, ...names]) };
}

/** Most header fields that no table names and that are looked at; a fork of Ethereum appended at most four. */
const MAX_UNKNOWN = 16;

/** What nodes add to a block that no header has: who sealed it, its body, and what is outside of it. */
const NOT_IN_HEADERS: ReadonlySet<string> = new Set(
  'author blockAccessList raw requests rlp sealFields sidecars signer withdrawals'.split(' '),
);

/** A field that a header could have; without a form it is a list, an object or the like, which nobody can append. */
interface UnknownField {
  name: string;
  form: Form | undefined;
}

/**
 * Header fields that no table names: whatever stands beside the known ones, but text, in the order of the node. Names
 * are the node's: letters, digits and `_`, at most 64; an answer with more than 16 such fields has none.
 */
export function unknownHeaderFields(value: unknown, header: readonly HeaderPart[]): UnknownField[] {
  const named = new Set(headerFields(header).flatMap(({ name, or, of }) => [of ?? name, or ?? name]));
  const unknown: UnknownField[] = [];
  for (const [name, given] of Object.entries(value as Raw)) {
    if (
      given == null ||
      (typeof given === 'string' && !/^0x[0-9a-fA-F]*$/.test(given)) ||
      !/^[A-Za-z]\w{0,63}$/.test(name) ||
      !isKeepable(name, given) ||
      BLOCK_FIELDS.spec.has(name) ||
      ETHEREUM_NAMES.has(name) ||
      NOT_IN_HEADERS.has(name) ||
      named.has(name)
    ) {
      continue;
    }
    unknown.push({ name, form: guessForm(given) });
    if (unknown.length > MAX_UNKNOWN) return [];
  }
  return unknown;
}

/** How such a value is likely to be written: a short one as a number, an address or longer bytes as they are. */
function guessForm(value: unknown): Form | undefined {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return 'integer';
  if (typeof value !== 'string') return undefined;
  if (value.length === 66) return 32;
  if (/^0x(0|[1-9a-fA-F][0-9a-fA-F]{0,31})$/.test(value)) return 'quantity';
  if (value.length % 2 === 0) return 'data';
  return /^0x[1-9a-fA-F][0-9a-fA-F]{0,63}$/.test(value) ? 'quantity' : undefined;
}

/** A withdrawal from the beacon chain (EIP-4895), in canonical form; `text` is the whole record as canonical JSON. */
export type Withdrawal = ReturnType<typeof readWithdrawal>;

/** Reads one entry of a block's `withdrawals`; `amount` is in Gwei. */
function readWithdrawal(reader: Reader, value: unknown) {
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
