import type { Answer, Json } from './encode.js';
import type { Random } from './random.js';

/*
 * Changes after which a node's answer mostly says the same in another form. Whether it does is for the prover to say.
 */

type Change = (random: Random, records: Records, answer: Answer) => void;

/** The objects of an answer by what they are. */
interface Records {
  block: Json;
  transactions: Json[];
  receipts: Json[];
  logs: Json[];
  traces: Json[];
  parts: Json[];
  all: Json[];
}

/** Changes the form of an answer once to three times. */
export function changeForm(random: Random, answer: Answer): void {
  const records = toRecords(answer);
  const times = random.pick([1, 1, 2, 3]);
  for (let time = 0; time < times; time++) random.pick(CHANGES)(random, records, answer);
}

function toRecords({ block, receipts, traces }: Answer): Records {
  const { transactions } = block;
  const logs = receipts.flatMap((receipt) => receipt.logs);
  const parts = traces.flatMap(({ action, result }) => [action, ...(isObject(result) ? [result] : [])]);
  const lists = transactions.flatMap((tx) =>
    [tx.accessList, tx.authorizationList].flatMap((list) => (Array.isArray(list) ? list : [])),
  );
  const others = [...lists, ...(Array.isArray(block.withdrawals) ? block.withdrawals : [])].filter(isObject);
  const all = [block, ...transactions, ...receipts, ...logs, ...traces, ...parts, ...others];
  return { block, transactions, receipts, logs, traces, parts, all };
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The fields that a complete record may lack. */
const OPTIONAL: readonly (readonly [of: keyof Records, names: readonly string[]])[] = [
  ['block', ['size', 'totalDifficulty', 'withdrawals', 'mixHash', 'baseFeePerGas']],
  [
    'transactions',
    [
      'type',
      'chainId',
      'accessList',
      'yParity',
      'v',
      'gasPrice',
      'authorizationList',
      'blobVersionedHashes',
      'mint',
      'isSystemTx',
      'depositReceiptVersion',
      'blockTimestamp',
      'nonce',
      'maxFeePerBlobGas',
    ],
  ],
  [
    'receipts',
    [
      'from',
      'to',
      'type',
      'effectiveGasPrice',
      'blobGasUsed',
      'blobGasPrice',
      'contractAddress',
      'root',
      'depositNonce',
      'depositReceiptVersion',
      'status',
      'l1Fee',
    ],
  ],
  ['logs', ['blockTimestamp', 'removed']],
  ['traces', ['result', 'error', 'transactionHash', 'transactionPosition']],
  ['parts', ['output', 'gasUsed', 'creationMethod', 'callType', 'address', 'code']],
];

const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  1e21,
  1e-7,
  2 ** 53,
  '',
  '0x',
  '0x0',
  '0xAB',
  '0xaB0',
  'a "b" \\ c',
  'é',
  '\u0000',
  [],
  {},
  [null, 1, 'x'],
  { b: 1, a: [{ d: '0xFF', c: null }] },
  '\ud800',
  '😀',
  '/',
  '\u2028',
  '\u007f',
  '0X1',
];

const NAMES: readonly string[] = [
  'extra',
  'a',
  'zzz',
  'raw',
  'author',
  'l1Fee',
  'l1BlockNumber',
  'blockTimestamp',
  'index',
  'baseFee',
  'root',
  'mint',
  'isSystemTx',
  'sourceHash',
  'yParity',
  'chainId',
  'creationMethod',
  'error',
  'result',
  'time',
  'É',
  '__proto__',
  'constructor',
  'toString',
  '',
  'a"b',
  'a\\b',
  '0',
  '1',
  'withdrawals',
  'requestsHash',
  'slotNumber',
  'maxFeePerGas',
  'feeCurrency',
  'blobVersionedHashes',
  'authorizationList',
  'status',
  'blobGasUsed',
  'removed',
  'aVeryLongNameOfMoreThanThirtyTwoLetters',
  'exactlySixteenCh',
  'depositNonce',
  'blockAccessListHash',
  'from',
];

const CHANGES: readonly Change[] = [
  // members in another order
  (random, { all }) => shuffle(random, random.pick(all)),
  (random, { all }) => {
    for (const one of all) shuffle(random, one);
  },
  // further fields
  addField,
  addField,
  addField,
  // optional fields left out, or null
  leaveOut,
  leaveOut,
  leaveOut,
  // hex in another form
  (random, { all }) => ofString(random, random.pick(all), (text) => `0x${text.slice(2).toUpperCase()}`),
  (random, { all }) => {
    const which = random.pick(all);
    for (const name of Object.keys(which))
      if (isHex(which[name])) which[name] = `0x${which[name].slice(2).toUpperCase()}`;
  },
  (random, { all }) =>
    ofString(random, random.pick(all), (text) => `0x${'0'.repeat(1 + random.int(70))}${text.slice(2)}`),
  (random, { all }) => ofString(random, random.pick(all), (text) => text.replace(/^0x0+(?=.)/, '0x')),
  (random, { transactions }) => {
    const tx = random.pick(transactions);
    if (tx === undefined) return;
    const name = random.pick(['r', 's']);
    const digits = String(tx[name] ?? '0x0').slice(2);
    const zeros = digits.padStart(random.pick([64, 65, 66, digits.length + 1]), '0');
    tx[name] = `0x${random.oneIn(2) ? zeros : digits.replace(/^0+(?=.)/, '')}`;
  },
  // who names the chain, the type and the parity
  (random, { transactions }) => {
    const tx = random.pick(transactions);
    if (tx === undefined) return;
    const name = random.pick(['v', 'yParity', 'chainId', 'type']);
    tx[name] = random.pick([
      '0x0',
      '0x1',
      '0x00',
      '0x01',
      '0x2',
      '0x1b',
      '0x25',
      '0x26',
      '0x5',
      '0x7e',
      tx.v,
      tx.type,
      null,
    ]);
  },
  // stamps of time
  (random, { block, transactions, logs }) => {
    const which = random.pick([...transactions, ...logs]);
    const { timestamp } = block;
    if (which !== undefined)
      which.blockTimestamp = random.pick([timestamp, timestamp, Number(timestamp), null, '0x1']);
  },
  // calls that failed
  (random, { traces }) => {
    const trace = random.pick(traces);
    if (trace === undefined) return;
    const how = random.int(4);
    if (how === 0)
      trace.error = random.pick(['Reverted', '', 'a\nb', 'é', 'x'.repeat(300), '\u001f"', 7, null, {}]);
    else if (how === 1)
      trace.result = random.pick([null, {}, { gasUsed: '0x1' }, { output: '0x' }, undefined]);
    else if (how === 2 && isObject(trace.result)) trace.result[random.pick(['output', 'gasUsed'])] = null;
    else trace.type = trace.type === 'suicide' ? 'selfdestruct' : trace.type;
  },
  (random, { parts }) => {
    const part = random.pick(parts);
    if (part !== undefined)
      part.callType = random.pick(['call', 'CALL', 'other', 'a"', 'é', '', 'delegatecall', null, 3]);
  },
  // lists
  (random, { transactions }) => {
    const tx = random.pick(transactions.filter(({ accessList }) => Array.isArray(accessList)));
    if (tx === undefined) return;
    const entry = random.pick(tx.accessList as Json[]);
    if (entry === undefined) tx.accessList = random.pick([null, undefined, {}]);
    else if (random.oneIn(2)) entry.storageKeys = random.pick([null, undefined, []]);
    else Object.assign(entry, { extra: '0xAB', a: 1 });
  },
  (random, { transactions }) => {
    const tx = random.pick(transactions.filter(({ authorizationList }) => Array.isArray(authorizationList)));
    const entry = tx && random.pick(tx.authorizationList as Json[]);
    if (entry === undefined) return;
    const { yParity } = entry;
    if (random.oneIn(2)) delete entry.yParity;
    entry.v = random.pick([yParity, '0x1b', '0x01']);
  },
  // a size that is put right
  (random, { block }) => {
    block.size = random.pick(['0x1', '0x0', '0x00', null, undefined, '0xffffffffffffffffff', 7]);
  },
  // as the first generation of the OP stack, or less of that
  (random, { receipts }) => {
    for (const receipt of receipts) {
      const how = random.int(4);
      if (how === 0) receipt.contractAddress = `0x${'0'.repeat(40)}`;
      else if (how === 1) receipt.root = '0x';
      else if (how === 2) delete receipt.contractAddress;
      if (random.oneIn(2)) delete receipt.from;
    }
  },
];

function shuffle(random: Random, record: Json): void {
  const entries = Object.entries(record);
  for (let at = entries.length - 1; at > 0; at--) {
    const other = random.int(at + 1);
    [entries[at], entries[other]] = [entries[other]!, entries[at]!];
  }
  for (const [name] of entries) delete record[name];
  for (const [name, value] of entries) put(record, name, value);
}

function addField(random: Random, { all }: Records): void {
  const record = random.pick(all);
  const name = random.pick(NAMES);
  if (record[name] === undefined || name === '__proto__' || random.oneIn(4))
    put(record, name, random.pick(VALUES));
  if (random.oneIn(2)) shuffle(random, record);
}

/** As JSON.parse: `__proto__` is a name like any other. */
function put(record: Json, name: string, value: unknown): void {
  Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true });
}

function leaveOut(random: Random, records: Records): void {
  const [of, names] = random.pick(OPTIONAL);
  const record = random.pick([records[of]].flat());
  if (record === undefined) return;
  const name = random.pick(names.filter((one) => record[one] !== undefined));
  if (name === undefined) return;
  if (random.oneIn(2)) record[name] = null;
  else delete record[name];
}

const isHex = (value: unknown): value is string => typeof value === 'string' && value.startsWith('0x');

function ofString(random: Random, record: Json, change: (text: string) => string): void {
  const name = random.pick(Object.keys(record).filter((one) => isHex(record[one])));
  if (name !== undefined) record[name] = change(String(record[name]));
}
