import { TOKEN_EVENTS } from '@packhouse/chain';
import { type CodedBatch, columnReader } from '../records/coded-column.js';
import { pickColumns } from '../records/read-columns.js';
import type { Column } from '../records/schema.js';
import type { Transfer } from './transfer.js';

/** What is read of logs. */
export const LOG_PART = pickColumns(
  'logs',
  `block_number block_timestamp transaction_index transaction_hash log_index address topic0 topic1 topic2 topic3 data`,
);

const { transfer: TRANSFER, transferSingle: SINGLE, transferBatch: BATCH } = TOKEN_EVENTS;
/** Who logs native transfers since Amsterdam (EIP-7708, "ETH transfer logs"). */
const SYSTEM = '0xfffffffffffffffffffffffffffffffffffffffe';

/** Digits of a word of the ABI. */
const WORD = 64;
const ADDRESS_TOPIC = /^0x0{24}[0-9a-f]{40}$/;

/**
 * The transfers that logs tell, in their order. A log that has not exactly the topics and the data of its event is none:
 *
 * | event | topics | data |
 * |---|---|---|
 * | ERC-20 Transfer | 3 | 1 word |
 * | ERC-721 Transfer | 4 | none |
 * | ERC-1155 TransferSingle | 4 | 2 words |
 * | ERC-1155 TransferBatch | 4 | two arrays of as many words each |
 *
 * Topics of accounts begin with twelve zero bytes.
 */
export function* tokenTransfers(batch: CodedBatch): Generator<Transfer> {
  const at = (name: string): ((row: number) => Column[number]) => columnReader(batch, name);
  const [topic0, topic1, topic2, topic3] = [at('topic0'), at('topic1'), at('topic2'), at('topic3')];
  const [address, data, blockAt, timeAt] = [
    at('address'),
    at('data'),
    at('block_number'),
    at('block_timestamp'),
  ];
  const [indexAt, hashAt, logIndexAt] = [at('transaction_index'), at('transaction_hash'), at('log_index')];
  for (let row = 0; row < batch.rows; row += 1) {
    const topic = topic0(row);
    if (topic !== TRANSFER && topic !== SINGLE && topic !== BATCH) continue;
    const last = topic3(row) as string | null;
    const words = data(row) as string;
    const token = address(row) as string;
    // Of ERC-1155 the first is the operator.
    const isMulti = topic !== TRANSFER;
    const from = toAccount((isMulti ? topic2 : topic1)(row) as string | null);
    const to = toAccount(isMulti ? last : (topic2(row) as string | null));
    if (from === null || to === null) continue;
    const transfer: Transfer = {
      block: blockAt(row) as number,
      time: timeAt(row) as number | null,
      transactionIndex: indexAt(row) as number,
      transactionHash: hashAt(row) as string,
      source: 'log',
      logIndex: logIndexAt(row) as number,
      batchIndex: null,
      traceAddress: null,
      withdrawalIndex: null,
      standard: 'erc20',
      token,
      from,
      to,
      value: 0n,
      tokenId: null,
    };
    if (topic === BATCH) yield* batchTransfers(transfer, words);
    else if (topic === SINGLE) {
      if (words.length !== 2 + 2 * WORD) continue;
      yield { ...transfer, standard: 'erc1155', tokenId: wordAt(words, 0), value: wordAt(words, 1) };
    } else if (last === null && words.length === 2 + WORD) {
      if (token !== SYSTEM) yield { ...transfer, value: wordAt(words, 0) };
      else yield { ...transfer, standard: 'native', token: null, value: wordAt(words, 0) };
    } else if (last !== null && words === '0x') {
      yield { ...transfer, standard: 'erc721', tokenId: BigInt(last), value: 1n };
    }
  }
}

/** A transfer for each place of both arrays, or none if they are not as the ABI has two dynamic arrays of one length. */
function* batchTransfers(transfer: Transfer, data: string): Generator<Transfer> {
  const size = (data.length - 2) / WORD;
  if (!Number.isInteger(size)) return;
  const ids = arrayAt(data, size, 0);
  const values = arrayAt(data, size, 1);
  if (ids === null || values === null || ids.count !== values.count) return;
  for (let at = 0; at < ids.count; at += 1) {
    const tokenId = wordAt(data, ids.first + at);
    yield {
      ...transfer,
      standard: 'erc1155',
      batchIndex: at,
      tokenId,
      value: wordAt(data, values.first + at),
    };
  }
}

/** The array whose offset is in a word of `data`, which has `size` words; null: it is not within. */
function arrayAt(data: string, size: number, word: number): { first: number; count: number } | null {
  if (size < 2) return null;
  const offset = Number(wordAt(data, word));
  const at = offset / 32;
  if (!Number.isInteger(at) || at < 2 || at >= size) return null;
  const count = Number(wordAt(data, at));
  return at + 1 + count <= size ? { first: at + 1, count } : null;
}

function wordAt(data: string, word: number): bigint {
  const start = 2 + word * WORD;
  return BigInt(`0x${data.slice(start, start + WORD)}`);
}

function toAccount(topic: string | null): string | null {
  return topic !== null && ADDRESS_TOPIC.test(topic) ? `0x${topic.slice(26)}` : null;
}
