import { type ObjectTable, type Order, writeTables } from '@packhouse/kernels';
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
import { DEPOSIT } from '../record/transaction.js';
import {
  lacksField,
  RECEIPT_TYPE_FIELDS,
  TRANSACTION_TYPE_FIELDS,
  type TypeField,
} from '../record/type-fields.js';

/*
 * What the scanner knows of records: the fields of each kind of object with their forms, and the orders in which they are
 * written. The order of what the format of bundles names is that of record/fields.ts; the rest follows by the alphabet, as
 * everywhere. A field that no table here has is declined, so it costs only time to forget one.
 */

/** Fields by name: their form, with `?` if null is a value. */
type Forms = Readonly<Record<string, string>>;

const forms = (form: string, names: string): Forms =>
  Object.fromEntries(names.split(' ').map((name) => [name, form]));

const TRANSACTION: Forms = {
  ...forms('bytes32', 'blockHash hash sourceHash'),
  ...forms('bytes20', 'from'),
  ...forms('bytes20?', 'to'),
  ...forms('quantity', 'blockNumber gas gasPrice nonce transactionIndex value v type mint blockTimestamp'),
  ...forms('quantity', 'depositReceiptVersion maxFeePerBlobGas yParity'),
  ...forms('quantity?', 'chainId maxFeePerGas maxPriorityFeePerGas'),
  ...forms('word', 'r s'),
  ...forms('data', 'input'),
  ...forms('boolean', 'isSystemTx'),
  ...forms('hashes', 'blobVersionedHashes'),
  accessList: 'accessList',
  authorizationList: 'authorizations',
};

/** Of OpenEthereum, and of the first generation of the OP stack. */
const OLD_TRANSACTION: Forms = {
  ...forms('text?', 'condition creates publicKey raw standardV'),
  ...forms('text?', 'index l1BlockNumber l1Timestamp l1TxOrigin queueIndex queueOrigin rawTransaction'),
};

const RECEIPT: Forms = {
  ...forms('bytes32', 'transactionHash blockHash'),
  ...forms('bytes20', 'from'),
  ...forms('bytes20?', 'to contractAddress'),
  root: 'data?',
  status: 'quantity?',
  ...forms('quantity', 'transactionIndex blockNumber cumulativeGasUsed gasUsed effectiveGasPrice type'),
  ...forms('quantity', 'blobGasPrice blobGasUsed depositNonce depositReceiptVersion'),
  /** As Anvil has it. */
  blockTimestamp: 'integer',
  logs: 'logs',
  logsBloom: 'bytes256',
};

/** Fees of the OP stack, and who paid in what on Tempo. */
const OLD_RECEIPT: Forms = forms('text?', [...RECEIPT_FIELDS.kept, 'feePayer', 'feeToken'].join(' '));

const LOG: Forms = {
  removed: 'boolean',
  ...forms('quantity', 'logIndex transactionIndex blockNumber blockTimestamp'),
  ...forms('bytes32', 'transactionHash blockHash'),
  address: 'bytes20',
  data: 'data',
  topics: 'topics',
  transactionLogIndex: 'quantity?',
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

/** The fields that the format names, in its order, then the others by the alphabet, then those that are only kept. */
function getTable(table: FieldTable, forms: Forms, kept: Forms = {}): ObjectTable {
  const spec = [...table.spec].filter((name) => name in forms);
  const others = Object.keys(forms).filter((name) => !table.spec.has(name));
  return { spec, names: [...spec, ...others.sort(), ...Object.keys(kept)], forms: { ...kept, ...forms } };
}

/** Kinds of objects, in the numbers of the kernel (kernel/scan/fields.ts). */
export const OBJECTS: readonly ObjectTable[] = [
  getTable(TRANSACTION_FIELDS, TRANSACTION, OLD_TRANSACTION),
  getTable(RECEIPT_FIELDS, RECEIPT, OLD_RECEIPT),
  getTable(LOG_FIELDS, LOG, forms('text', 'type')),
  getTable(TRACE_FIELDS, TRACE),
  getTable(CALL_FIELDS, ACTION),
  getTable(RESULT_FIELDS, RESULT),
  getTable(UNLISTED_FIELDS, AUTHORIZATION, forms('text', 'authority v')),
];
const [OF_TRANSACTION, OF_RECEIPT, OF_LOG, OF_TRACE, OF_ACTION, OF_RESULT, OF_AUTHORIZATION] = OBJECTS.keys();

const all = (object: number, required: string, without: readonly string[] = []): Order => {
  const { names: known, spec } = OBJECTS[object]!;
  const others = known.filter((name) => !spec.includes(name)).sort();
  const names = [...spec, ...others].filter((name) => !without.includes(name));
  return { object, names, required: required.split(' ') };
};

/** A transaction of a type: without the fields of other types. */
const ofType = (kind: number, required = 'gasPrice nonce v r s'): Order =>
  all(OF_TRANSACTION!, `${OF_ANY_TYPE} ${required}`, lacking(TRANSACTION_TYPE_FIELDS, kind));

/** The receipt of a type. What is said of `blobGasUsed` is checked beside the order. */
const receiptOfType = (kind: number): Order =>
  all(
    OF_RECEIPT!,
    `transactionHash transactionIndex ${PLACE} cumulativeGasUsed gasUsed contractAddress logs logsBloom`,
    lacking(RECEIPT_TYPE_FIELDS, kind).filter((name) => name !== 'blobGasUsed'),
  );

const lacking = (fields: readonly TypeField[], kind: number): string[] =>
  fields.filter((field) => lacksField(field, kind)).map(({ name }) => name);

/** Fields of an object that the format names for a table, in its order, then these. */
const some = (object: number, table: FieldTable, more: string, optional = ''): Order => {
  const others = more.split(' ').filter((name) => name !== '');
  const names = [...table.spec, ...others.sort()];
  const free = new Set(optional.split(' '));
  return { object, names, required: names.filter((name) => !free.has(name)) };
};

const PLACE = 'blockHash blockNumber';
const OF_ANY_TYPE = `${PLACE} from gas hash input to transactionIndex value`;

/** Orders, in the numbers of the kernel (kernel/scan/fields.ts). */
export const ORDERS: readonly (Order | undefined)[] = [
  ofType(0),
  receiptOfType(0),
  all(OF_LOG!, `removed logIndex transactionIndex transactionHash ${PLACE} address data topics`),
  all(OF_TRACE!, `action ${PLACE} subtraces traceAddress transactionHash transactionPosition type`),
  undefined,
  undefined,
  all(OF_AUTHORIZATION!, 'address chainId nonce r s yParity'),
  some(OF_ACTION!, CALL_FIELDS, ''),
  some(OF_ACTION!, CREATE_FIELDS, 'creationMethod init', 'creationMethod'),
  some(OF_ACTION!, UNLISTED_FIELDS, 'address balance refundAddress'),
  some(OF_ACTION!, REWARD_FIELDS, 'author rewardType'),
  some(OF_RESULT!, RESULT_FIELDS, ''),
  some(OF_RESULT!, RESULT_FIELDS, 'address code', 'output'),
  some(OF_RESULT!, RESULT_FIELDS, 'address code', 'gasUsed output address code'),
  ofType(DEPOSIT, 'sourceHash'),
  all(OF_TRACE!, `action ${PLACE} subtraces traceAddress type`),
  ofType(1),
  ofType(2),
  ofType(3),
  ofType(4),
  receiptOfType(3),
  receiptOfType(DEPOSIT),
];

/** The bytes of all tables. */
export function getTables(): Buffer {
  return writeTables(OBJECTS, ORDERS);
}
