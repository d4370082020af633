import {
  CALL_FIELDS,
  CREATE_FIELDS,
  type FieldTable,
  LOG_FIELDS,
  RECEIPT_FIELDS,
  RESULT_FIELDS,
  REWARD_FIELDS,
  TRACE_FIELDS,
  TRANSACTION_FIELDS,
  UNLISTED_FIELDS,
} from '../record/fields.js';

/*
 * What the scanner knows of records: the fields of each kind of object with their forms, and the orders in which they are
 * written. The order of what the format of bundles names is that of record/fields.ts; the rest follows by the alphabet, as
 * everywhere. A field that no table here has is declined, so it costs only time to forget one.
 */

/** Forms of values, in the numbers of kernel/fields.ts. */
const FORMS = [
  ...[
    'quantity',
    'data',
    'bytes20',
    'bytes32',
    'bytes256',
    'word',
    'integer',
    'boolean',
    'text',
    'hashes',
    'topics',
  ],
  ...['integers', 'logs', 'accessList', 'authorizations', 'action', 'result'],
];
const OR_NULL = 0x100;

/** Fields by name: their form, with `?` if null is a value. */
type Forms = Readonly<Record<string, string>>;

const forms = (form: string, names: string): Forms =>
  Object.fromEntries(names.split(' ').map((name) => [name, form]));

const TRANSACTION: Forms = {
  ...forms('bytes32', 'blockHash hash sourceHash'),
  ...forms('bytes20', 'from'),
  ...forms('bytes20?', 'to'),
  ...forms('quantity', 'blockNumber gas gasPrice nonce transactionIndex value v type mint blockTimestamp'),
  ...forms('quantity', 'maxFeePerBlobGas maxFeePerGas maxPriorityFeePerGas yParity'),
  ...forms('quantity?', 'chainId'),
  ...forms('word', 'r s'),
  ...forms('data', 'input'),
  ...forms('boolean', 'isSystemTx'),
  ...forms('hashes', 'blobVersionedHashes'),
  accessList: 'accessList',
  authorizationList: 'authorizations',
};

/** Of OpenEthereum, and of the first generation of the OP stack; and what op-geth repeats of a receipt. */
const OLD_TRANSACTION: Forms = {
  ...forms('text?', 'condition creates publicKey raw standardV'),
  ...forms('text?', 'index l1BlockNumber l1Timestamp l1TxOrigin queueIndex queueOrigin rawTransaction'),
  ...forms('text', 'depositReceiptVersion'),
};

const RECEIPT: Forms = {
  ...forms('bytes32', 'transactionHash blockHash'),
  ...forms('bytes20', 'from'),
  ...forms('bytes20?', 'to contractAddress'),
  root: 'data?',
  status: 'quantity?',
  ...forms('quantity', 'transactionIndex blockNumber cumulativeGasUsed gasUsed effectiveGasPrice type'),
  ...forms('quantity', 'blobGasPrice blobGasUsed depositNonce depositReceiptVersion'),
  logs: 'logs',
  logsBloom: 'bytes256',
};

/** Fees of the OP stack, and the time as Anvil has it. */
const OLD_RECEIPT: Forms = {
  ...forms('text?', [...RECEIPT_FIELDS.kept].join(' ')),
  blockTimestamp: 'integer',
};

const LOG: Forms = {
  removed: 'boolean',
  ...forms('quantity', 'logIndex transactionIndex blockNumber blockTimestamp'),
  ...forms('bytes32', 'transactionHash blockHash'),
  address: 'bytes20',
  data: 'data',
  topics: 'topics',
};

const TRACE: Forms = {
  action: 'action',
  result: 'result?',
  ...forms('bytes32', 'blockHash'),
  ...forms('bytes32?', 'transactionHash'),
  ...forms('integer', 'blockNumber subtraces'),
  ...forms('integer?', 'transactionPosition'),
  traceAddress: 'integers',
  ...forms('text', 'type'),
  ...forms('text?', 'error'),
};

const ACTION: Forms = {
  ...forms('text', 'callType creationMethod rewardType'),
  ...forms('bytes20', 'from to address refundAddress author'),
  ...forms('quantity', 'gas value balance'),
  ...forms('data', 'input init'),
};

const RESULT: Forms = { ...forms('data', 'output code'), gasUsed: 'quantity', address: 'bytes20' };

const AUTHORIZATION: Forms = { address: 'bytes20', ...forms('quantity', 'chainId nonce r s yParity') };

interface ObjectTable {
  /** Fields in the order of their numbers. */
  names: readonly string[];
  /** Those that the format names, in its order. */
  spec: readonly string[];
  forms: Forms;
}

/** The fields that the format names, in its order, then the others by the alphabet, then those that are only kept. */
function tableOf(table: FieldTable, forms: Forms, kept: Forms = {}): ObjectTable {
  const spec = [...table.spec].filter((name) => name in forms);
  const others = Object.keys(forms).filter((name) => !table.spec.has(name));
  return { spec, names: [...spec, ...others.sort(), ...Object.keys(kept)], forms: { ...kept, ...forms } };
}

/** Kinds of objects, in the numbers of kernel/fields.ts. */
export const OBJECTS: readonly ObjectTable[] = [
  tableOf(TRANSACTION_FIELDS, TRANSACTION, OLD_TRANSACTION),
  tableOf(RECEIPT_FIELDS, RECEIPT, OLD_RECEIPT),
  tableOf(LOG_FIELDS, LOG, forms('text', 'transactionLogIndex type')),
  tableOf(TRACE_FIELDS, TRACE),
  tableOf(CALL_FIELDS, ACTION),
  tableOf(RESULT_FIELDS, RESULT),
  tableOf(UNLISTED_FIELDS, AUTHORIZATION, forms('text', 'authority v')),
];
const [OF_TRANSACTION, OF_RECEIPT, OF_LOG, OF_TRACE, OF_ACTION, OF_RESULT, OF_AUTHORIZATION] = OBJECTS.keys();

interface Order {
  /** Of an object, by its number. */
  object: number;
  names: readonly string[];
  required: readonly string[];
}

const all = (object: number, required: string): Order => {
  const { names: known, spec } = OBJECTS[object]!;
  const others = known.filter((name) => !spec.includes(name)).sort();
  const names = [...spec, ...others];
  return { object, names, required: required.split(' ') };
};

/** Fields of an object that the format names for a table, in its order, then these. */
const some = (object: number, table: FieldTable, more: string, optional = ''): Order => {
  const others = more.split(' ').filter((name) => name !== '');
  const names = [...table.spec, ...others.sort()];
  const free = new Set(optional.split(' '));
  return { object, names, required: names.filter((name) => !free.has(name)) };
};

const PLACE = 'blockHash blockNumber';
const OF_ANY_TYPE = `${PLACE} from gas hash input to transactionIndex value`;

/** Orders, in the numbers of kernel/fields.ts. */
export const ORDERS: readonly (Order | undefined)[] = [
  all(OF_TRANSACTION!, `${OF_ANY_TYPE} gasPrice nonce v r s`),
  all(
    OF_RECEIPT!,
    `transactionHash transactionIndex ${PLACE} cumulativeGasUsed gasUsed contractAddress logs logsBloom`,
  ),
  all(OF_LOG!, `removed logIndex transactionIndex transactionHash ${PLACE} address data topics`),
  all(OF_TRACE!, `action ${PLACE} subtraces traceAddress transactionHash transactionPosition type`),
  ...[undefined, undefined],
  all(OF_AUTHORIZATION!, 'address chainId nonce r s yParity'),
  some(OF_ACTION!, CALL_FIELDS, ''),
  some(OF_ACTION!, CREATE_FIELDS, 'creationMethod init', 'creationMethod'),
  some(OF_ACTION!, UNLISTED_FIELDS, 'address balance refundAddress'),
  some(OF_ACTION!, REWARD_FIELDS, 'author rewardType'),
  some(OF_RESULT!, RESULT_FIELDS, ''),
  some(OF_RESULT!, RESULT_FIELDS, 'address code', 'output'),
  some(OF_RESULT!, RESULT_FIELDS, 'address code', 'gasUsed output address code'),
  all(OF_TRANSACTION!, `${OF_ANY_TYPE} sourceHash`),
  all(OF_TRACE!, `action ${PLACE} subtraces traceAddress type`),
];

/** Layout of kernel/fields.ts. */
const PLACES = 128;
const PLACE_BYTES = 48;
const NAME_AT = 16;
const LONGEST_NAME = 24;
const MOST_FIELDS = 48;
const ORDER_HEAD = 32;
const ORDER_STEP = 16;
const ORDER_BYTES = ORDER_HEAD + MOST_FIELDS * ORDER_STEP;
/** A copy takes 32 bytes, however short the text is. */
const LITERAL_BYTES = 32;

/** Address of the tables, and of what is behind them, in the kernel's memory (kernel/memory.ts). */
export const TABLES_AT = 0x10000;
export const TABLES_END = 0x40000;

/** The bytes of all tables, to be written at TABLES_AT. */
export function writeTables(): Buffer {
  const bytes = Buffer.alloc(TABLES_END - TABLES_AT);
  for (const [object, { names, forms }] of OBJECTS.entries()) {
    if (names.length > MOST_FIELDS) throw new Error(`object ${object} has ${names.length} fields`);
    for (const [field, name] of names.entries()) writePlace(bytes, object, name, field, formOf(forms[name]!));
  }
  const orders = OBJECTS.length * PLACES * PLACE_BYTES;
  let literal = orders + ORDERS.length * ORDER_BYTES;
  for (const [number, order] of ORDERS.entries()) {
    if (order === undefined) continue;
    const at = orders + number * ORDER_BYTES;
    const { names: known } = OBJECTS[order.object]!;
    const bit = (name: string): bigint => 1n << BigInt(known.indexOf(name));
    const mask = (names: readonly string[]): bigint => names.reduce((sum, name) => sum | bit(name), 0n);
    bytes.writeBigUInt64LE(mask(order.required), at);
    bytes.writeBigUInt64LE(mask(order.names), at + 8);
    bytes.writeUInt32LE(order.names.length, at + 16);
    for (const [step, name] of order.names.entries()) {
      const text = literalOf(name);
      const place = at + ORDER_HEAD + step * ORDER_STEP;
      bytes.writeUInt32LE(known.indexOf(name), place);
      bytes.writeUInt32LE(TABLES_AT + literal, place + 4);
      bytes.writeUInt32LE(text.length, place + 8);
      literal += bytes.write(text.padEnd(LITERAL_BYTES, '\0'), literal, 'latin1');
    }
  }
  return bytes;
}

function formOf(name: string): number {
  const form = FORMS.indexOf(name.replace('?', ''));
  return name.endsWith('?') ? form | OR_NULL : form;
}

/** The logs of a receipt are written without their brackets, which are those of another text. */
function literalOf(name: string): string {
  if (name === 'logs') return ',"logs":[';
  return name === 'logsBloom' ? '],"logsBloom":' : `,"${name}":`;
}

function writePlace(bytes: Buffer, object: number, name: string, field: number, form: number): void {
  let place = hashOf(name);
  const at = (): number => (object * PLACES + place) * PLACE_BYTES;
  while (bytes.readUInt32LE(at()) !== 0) place++;
  // The last place stays empty, so that every search ends.
  if (place >= PLACES - 1 || name.length > LONGEST_NAME) throw new Error(`no place for the field ${name}`);
  bytes.writeUInt32LE(name.length, at());
  bytes.writeUInt32LE(field, at() + 4);
  bytes.writeUInt32LE(form, at() + 8);
  bytes.write(name, at() + NAME_AT, 'latin1');
}

/** As placeOf of kernel/fields.ts. */
function hashOf(name: string): number {
  let first = 0n;
  for (let at = Math.min(8, name.length) - 1; at >= 0; at--)
    first = (first << 8n) | BigInt(name.charCodeAt(at));
  return Number(
    (BigInt.asUintN(64, (first ^ BigInt(name.length)) * 0xc2b2ae3d27d4fn) >> 48n) & BigInt(PLACES - 1),
  );
}
