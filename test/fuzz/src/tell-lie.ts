import type { Keccak } from '@packhouse/chain';
import { type Answer, type Json, toQuantity } from './encode.js';
import { OF_TYPES } from './fields-of-types.js';
import type { Random } from './random.js';
import { fillBlooms, seal } from './seal-block.js';

/*
 * Lies deep inside of a block, with everything above them made right again: only the check that is meant for each can
 * notice it.
 */

/** Before: told, then the roots are made to fit. After: of what no root commits to. */
interface Lie {
  before?: (random: Random, answer: Answer) => unknown;
  after?: (random: Random, answer: Answer) => unknown;
  /** Blooms stay as they are told. */
  keepsBlooms?: boolean;
}

/** Tells a lie about a block, or two, and seals it. Lies that found nothing to change are told anew a few times. */
export function tellLie(random: Random, answer: Answer, keccak: Keccak): void {
  const truth = JSON.stringify(answer);
  for (let tries = 0; tries < 6; tries++) {
    const lies = Array.from({ length: random.pick([1, 1, 1, 2]) }, () => random.pick(LIES));
    for (const { before } of lies) before?.(random, answer);
    if (JSON.stringify(answer) !== truth) {
      if (!lies.some(({ keepsBlooms }) => keepsBlooms === true)) fillBlooms(answer, keccak);
      const unknown = Object.keys(answer.block).filter((name) => name.startsWith('unknown'));
      seal(answer, keccak, unknown);
    }
    for (const { after } of lies) after?.(random, answer);
    if (JSON.stringify(answer) !== truth) return;
  }
}

type Log = Answer['receipts'][number]['logs'][number];
const toLogs = ({ receipts }: Answer): Log[] =>
  objects(receipts).flatMap(({ logs }) => (logs ?? []) as Log[]);

/** A QUANTITY that is another by a little, or by much. */
function moved(random: Random, quantity: unknown): string {
  const value = toQuantity(quantity);
  const other = random.pick([
    value + 1n,
    value === 0n ? 2n : value - 1n,
    value * 2n + 1n,
    0n,
    HUGE,
    1n << 53n,
    1n << 64n,
  ]);
  return `0x${other.toString(16)}`;
}
const HUGE = (1n << 256n) - 1n;

/** DATA with one digit changed. */
function flipped(random: Random, data: unknown): string {
  const text = typeof data === 'string' && data.length > 2 ? data : `0x${'11'.repeat(20)}`;
  const at = 2 + random.int(text.length - 2);
  return (
    text.slice(0, at) +
    (Number.parseInt(text[at]!, 16) ^ (1 + random.int(15))).toString(16) +
    text.slice(at + 1)
  );
}

/** The objects of a list, in which another lie may have put anything. */
const objects = (list: unknown): Json[] =>
  Array.isArray(list) ? list.filter((one) => typeof one === 'object' && one !== null) : [];

function change(random: Random, list: unknown, names: readonly string[]): void {
  const record = random.pick(objects(list));
  if (record === undefined) return;
  const name = random.pick(names);
  const value = record[name];
  if (typeof value === 'boolean') record[name] = !value;
  else if (typeof value === 'number')
    record[name] = random.pick([value + 1, value - 1, 0, 2 ** 53, value + 0.5]);
  else if (typeof value === 'string' && value.length < 20) record[name] = moved(random, value);
  else record[name] = random.oneIn(8) ? null : flipped(random, value);
}

const PLACE = ['blockHash', 'blockNumber', 'transactionHash', 'transactionIndex'];

const LIES: readonly Lie[] = [
  // prices
  {
    before: (random, { block }) =>
      change(random, block.transactions, ['gasPrice', 'maxFeePerGas', 'maxPriorityFeePerGas']),
  },
  { before: (random, { block }) => change(random, [block], ['baseFeePerGas']) },
  {
    before: (random, { receipts }) =>
      change(random, receipts, ['effectiveGasPrice', 'blobGasUsed', 'blobGasPrice']),
  },
  {
    // the receipt follows the price that is wrong
    before: (random, { block, receipts }) => {
      const index = random.int(Math.max(1, block.transactions.length));
      const tx = block.transactions[index];
      if (tx === undefined) return;
      tx.gasPrice = random.pick([tx.maxFeePerGas, moved(random, tx.gasPrice)]);
      Object.assign(receipts[index] ?? {}, { effectiveGasPrice: tx.gasPrice });
    },
  },
  // signatures and chains
  {
    before: (random, { block }) =>
      change(random, block.transactions, ['v', 'r', 's', 'yParity', 'chainId', 'nonce', 'value']),
  },
  {
    after: (random, { block }) =>
      change(random, block.transactions, ['yParity', 'v', 'chainId', 'type', 'from', 'to', 'input', 'hash']),
  },
  {
    before: (random, { block }) => {
      const tx = random.pick(block.transactions);
      if (tx === undefined) return;
      const parity = BigInt(random.int(2));
      const v = BigInt(random.pick([0, 1, 27, 28, 29, 35, 36, 37, 38, 55, 56, 2 ** 40]));
      Object.assign(tx, {
        v: `0x${v.toString(16)}`,
        ...(random.oneIn(2) ? { yParity: `0x${parity.toString(16)}` } : {}),
      });
      if (random.oneIn(2)) delete tx.chainId;
      if (random.oneIn(4)) Object.assign(tx, { r: '0x0', s: '0x0' });
    },
  },
  {
    after: (random, { block }) =>
      change(random, block.transactions, ['blockHash', 'blockNumber', 'transactionIndex', 'blockTimestamp']),
  },
  // what a type cannot have
  {
    after: (random, { block }) => {
      const tx = random.pick(objects(block.transactions));
      if (tx === undefined) return;
      const name = random.pick(Object.keys(OF_TYPES));
      tx[name] = random.oneIn(6) ? random.pick([null, [], '0x0', '0x1', 1, '']) : OF_TYPES[name]!(random);
    },
  },
  {
    after: (random, { receipts }) => {
      const receipt = random.pick(objects(receipts));
      if (receipt === undefined) return;
      const name = random.pick(['blobGasUsed', 'blobGasPrice', 'depositNonce', 'depositReceiptVersion']);
      receipt[name] = random.pick(['0x0', '0x1', '0x20000', random.quantity(30), null]);
      if (random.oneIn(2)) receipt.daFootprintGasScalar = random.pick(['0x190', null]);
    },
  },
  {
    // who signed a deposit, or paid for it
    after: (random, { block, receipts }) => {
      // A lie before it may have put null in a transaction's place.
      const index = block.transactions.findIndex((each) => each?.type === '0x7e');
      const tx = block.transactions[index];
      if (tx === undefined) return;
      const name = random.pick(['gasPrice', 'nonce', 'v', 'r', 's', 'yParity', 'depositReceiptVersion']);
      if (random.oneIn(5)) Object.assign(receipts[index] ?? {}, { effectiveGasPrice: random.quantity(8) });
      else tx[name] = random.pick(['0x0', '0x1', '0x2', random.quantity(20), null]);
    },
  },
  {
    // the time in any form
    after: (random, { block, receipts }) => {
      const records = [
        ...objects(block.transactions),
        ...objects(receipts),
        ...toLogs({ block, receipts, traces: [] }),
      ];
      const record = random.pick(records);
      const time = Number(block.timestamp) + random.pick([0, 0, 1, -1, 1_000]);
      if (record !== undefined)
        record.blockTimestamp = random.pick([
          time,
          String(time),
          `0x${time.toString(16)}`,
          `0x0${time.toString(16)}`,
          `0x${time.toString(16).toUpperCase()}`,
          time + 0.5,
          -time,
          time * 1_000,
          null,
          '',
          true,
        ]);
    },
  },
  // senders, told the same everywhere
  {
    before: (random, answer) => {
      const index = random.int(Math.max(1, answer.block.transactions.length));
      const tx = answer.block.transactions[index];
      if (tx === undefined) return;
      const other = flipped(random, tx.from);
      const before = tx.from;
      tx.from = other;
      if (random.oneIn(4)) return;
      Object.assign(answer.receipts[index] ?? {}, { from: other });
      for (const { action } of answer.traces) if (action.from === before) action.from = other;
    },
  },
  { after: (random, { receipts }) => change(random, receipts, ['from', 'to', 'type', ...PLACE]) },
  // gas
  {
    before: (random, { receipts }) =>
      change(random, receipts, ['gasUsed', 'cumulativeGasUsed', 'status', 'root']),
  },
  {
    before: (random, { block }) =>
      change(random, [block], ['gasLimit', 'number', 'timestamp', 'difficulty', 'gasUsed']),
  },
  {
    // of all receipts, and mostly of the header too
    before: (random, { block, receipts }) => {
      const more = BigInt(random.pick([1, 100, 2 ** 52]));
      const addMore = (gas: unknown) => `0x${(toQuantity(gas) + more).toString(16)}`;
      for (const receipt of receipts) receipt.cumulativeGasUsed = addMore(receipt.cumulativeGasUsed);
      if (!random.oneIn(3)) block.gasUsed = addMore(block.gasUsed);
    },
  },
  // how a transaction ended
  {
    before: (random, { receipts }) => {
      const receipt = random.pick(receipts);
      if (receipt === undefined) return;
      if (random.oneIn(2)) receipt.status = random.pick(['0x2', '0x3', '0x10', '0x0', '0x1', null]);
      else receipt.root = random.pick([random.data(32), '0x', '0x12', null]);
    },
  },
  // contracts
  { after: (random, { receipts }) => change(random, receipts, ['contractAddress']) },
  {
    after: (random, { receipts }) => {
      const receipt = random.pick(objects(receipts));
      if (receipt !== undefined)
        receipt.contractAddress = random.pick([null, receipt.to, receipt.from, `0x${'0'.repeat(40)}`]);
    },
  },
  // logs
  { after: (random, answer) => change(random, toLogs(answer), [...PLACE, 'logIndex', 'removed']) },
  {
    after: (random, answer) =>
      change(random, toLogs(answer), ['logIndex', 'blockTimestamp', 'data', 'address']),
  },
  { before: (random, answer) => change(random, toLogs(answer), ['address']) },
  {
    before: (random, answer) => {
      const log = random.pick(toLogs(answer));
      log?.topics.push(
        ...Array.from({ length: random.pick([1, 2, 5]) }, () => random.data(random.pick([32, 32, 31]))),
      );
    },
  },
  {
    after: (random, { receipts }) => {
      const lists = objects(receipts).map(({ logs }) => logs as unknown[]);
      const log = random.pick(lists)?.pop();
      if (log !== undefined) random.pick(lists)?.push(log);
    },
  },
  // blooms
  {
    before: (random, { receipts }) => {
      const receipt = random.pick(objects(receipts));
      if (receipt !== undefined) receipt.logsBloom = flipped(random, receipt.logsBloom);
    },
    keepsBlooms: true,
  },
  {
    after: (random, { block, receipts }) =>
      change(random, [block, ...receipts], ['logsBloom', 'receiptsRoot', 'status']),
  },
  // the block
  {
    after: (random, { block }) =>
      change(random, [block], ['size', 'totalDifficulty', 'hash', 'parentHash', 'stateRoot']),
  },
  {
    before: (random, { block }) => {
      if (random.oneIn(2))
        block.uncles = random.pick([[], [random.data(32)], [random.data(32), random.data(32)]]);
      else block.sha3Uncles = random.data(32);
    },
  },
  {
    before: (random, { block }) =>
      Object.assign(block, {
        unknownHash: random.data(32),
        ...(random.oneIn(2) ? { unknownNumber: '0x5' } : {}),
      }),
  },
  {
    after: (random, { block }) => {
      const list = block.withdrawals;
      if (!Array.isArray(list) || random.oneIn(3))
        block.withdrawals = random.pick([[], null, undefined, [{ index: '0x0' }]]);
      else if (random.oneIn(2)) list.pop();
      else change(random, list, ['index', 'validatorIndex', 'address', 'amount']);
    },
  },
  {
    before: (random, { block }) => change(random, block.withdrawals, ['index', 'amount', 'address']),
  },
  { after: (_, { block }) => delete block.withdrawalsRoot },
  // records that are missing, double, or in other places
  {
    after: (random, { block, receipts, traces }) => {
      const list: unknown[] = random.pick([block.transactions, receipts, traces]);
      const at = random.int(Math.max(1, list.length));
      const how = random.int(4);
      if (how === 0) list.splice(at, 1);
      else if (how === 1 && list.length > 0) list.splice(at, 0, list[at]);
      else if (how === 2) list.reverse();
      else list.push(random.pick([null, {}, [], 1, 'x']));
    },
  },
  {
    before: (random, { block, receipts, traces }) => {
      const list: unknown[] = random.pick([block.transactions, receipts, traces]);
      list.splice(random.int(Math.max(1, list.length)), 1);
    },
  },
  // trees of traces
  {
    after: (random, { traces }) =>
      change(random, traces, [
        'blockHash',
        'blockNumber',
        'subtraces',
        'transactionHash',
        'transactionPosition',
      ]),
  },
  {
    after: (random, { traces }) =>
      change(
        random,
        objects(traces).map(({ action }) => action),
        ['from', 'to', 'value', 'input', 'init', 'gas'],
      ),
  },
  {
    after: (random, { traces }) =>
      change(
        random,
        objects(traces).map(({ result }) => result),
        ['address', 'gasUsed', 'output', 'code'],
      ),
  },
  {
    after: (random, { traces }) => {
      const trace = random.pick(objects(traces));
      if (trace === undefined) return;
      const address = Array.isArray(trace.traceAddress) ? (trace.traceAddress as unknown[]) : [];
      const how = random.int(7);
      if (how === 0) address.push(random.pick([0, 1, 2 ** 32, '0', null, -1, 0.5]));
      else if (how === 1) address.pop();
      else if (how === 2 && address.length > 0)
        address[random.int(address.length)] = random.pick([0, 1, 2, 1e9, 2 ** 32]);
      else if (how === 3)
        trace.type = random.pick(['call', 'create', 'suicide', 'reward', 'CALL', null, 'selfdestruct']);
      else if (how === 4) trace.error = trace.error === undefined ? 'Reverted' : undefined;
      else if (how === 5)
        trace.subtraces = random.pick([0, 1, 5, 2 ** 32, 2 ** 32 + 1, 2 ** 53, -1, '1', null]);
      else trace.traceAddress = random.pick([[], [0], [0, 0], [0, 1], null, {}, [[]]]);
    },
  },
  {
    after: (random, { block, traces }) => {
      const reward = objects(traces).find(({ type }) => type === 'reward');
      if (reward === undefined) return;
      const [tx] = block.transactions;
      Object.assign(
        reward,
        random.pick([
          { traceAddress: [0] },
          { subtraces: 1 },
          { transactionPosition: 0 },
          { result: { gasUsed: '0x0' } },
          { transactionHash: tx?.hash ?? null },
          { type: 'suicide' },
          { error: 'Reverted' },
          { action: tx },
        ]),
      );
    },
  },
  {
    after: (random, { traces }) => {
      const from = random.int(Math.max(1, traces.length));
      const [trace] = traces.splice(from, 1);
      if (trace !== undefined) traces.splice(random.int(traces.length + 1), 0, trace);
    },
  },
];
