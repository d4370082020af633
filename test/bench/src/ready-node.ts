/**
 * A program: `node ready-node.js` is a node whose answers lie ready in memory, so that what is measured is the way to
 * it and not the node: a block of about 200 KB, a block of about 2 MB (numbers from 0x20000000 on), about 2 MB of
 * logs, small values for everything else. Block 0x10 is final. Of a single call little more than the end is read; the
 * calls of a batch are all answered with small values.
 */

import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

const FINALIZED = '0x10';
const HEAD = '0xfffffff';
const HASH = `0x${'ab'.repeat(32)}`;
const END = Buffer.from('\r\n\r\n');

const getHead = (length: number): string =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;

/** What follows the id in an answer. */
const toRest = (result: string): Buffer => Buffer.from(`,"result":${result}}`, 'latin1');

function send(socket: Socket, id: string, rest: Buffer, beforeRest = ''): void {
  const begin = `{"jsonrpc":"2.0","id":${id}${beforeRest}`;
  socket.cork();
  socket.write(getHead(begin.length + rest.length) + begin, 'latin1');
  socket.write(rest);
  socket.uncork();
}

/** 32 bytes that no other number has, as hex. */
const getHash = (text: string): string => createHash('sha256').update(text).digest('hex');

/** What follows the number in a block that compresses about as well as one of mainnet. */
function blockRest(number: string, transactions: number): Buffer {
  const transactionAt = (_: unknown, at: number): object => {
    const [hash, from, to] = [getHash(`hash ${at}`), getHash(`from ${at}`), getHash(`to ${at % 50}`)];
    return {
      blockHash: HASH,
      blockNumber: number,
      from: `0x${from.slice(0, 40)}`,
      gas: '0x5208',
      gasPrice: '0x3b9aca00',
      hash: `0x${hash}`,
      input: `0x${(to.slice(0, 40).padStart(64, '0') + '0'.repeat(56) + hash.slice(0, 8)).repeat(4).slice(0, 480)}`,
      nonce: '0x1',
      to: `0x${to.slice(0, 40)}`,
      transactionIndex: '0x0',
      value: '0xde0b6b3a7640000',
      type: '0x0',
      v: '0x25',
      r: `0x${getHash(`r ${at}`)}`,
      s: `0x${getHash(`s ${at}`)}`,
    };
  };
  const members = {
    hash: HASH,
    parentHash: HASH,
    transactions: Array.from({ length: transactions }, transactionAt),
  };
  return Buffer.from(`,${JSON.stringify(members).slice(1)}}`, 'latin1');
}

const MEMBER = '"blockNumber":"';
/** Blocks by their size and the length of their number: where they have it, and the rest of their text. */
const blocks = new Map<string, { rest: Buffer; places: readonly number[] }>();

function findBlock(number: string, transactions: number): { rest: Buffer; places: readonly number[] } {
  const name = `${transactions} ${number.length}`;
  const known = blocks.get(name);
  if (known !== undefined) return known;
  const rest = blockRest(number, transactions);
  const places: number[] = [];
  for (let at = rest.indexOf(MEMBER); at !== -1; at = rest.indexOf(MEMBER, at + 1))
    places.push(at + MEMBER.length);
  blocks.set(name, { rest, places });
  return { rest, places };
}

/** The block of this number, which the gateway compares with the one asked for, in its transactions too. */
function sendBlock(socket: Socket, id: string, number: string, transactions: number): void {
  const { rest, places } = findBlock(number, transactions);
  const own = Buffer.from(rest);
  for (const at of places) own.write(number, at, 'latin1');
  send(socket, id, own, `,"result":{"number":"${number}"`);
}

const logAt = (_: unknown, at: number): object => ({
  address: HASH.slice(0, 42),
  topics: [HASH, HASH, HASH],
  data: `0x${'00'.repeat(32)}`,
  blockNumber: HEAD,
  transactionHash: HASH,
  transactionIndex: '0x1',
  blockHash: HASH,
  logIndex: `0x${at.toString(16)}`,
  removed: false,
});

/** Transactions of a block. */
const [BLOCK, LARGE_BLOCK] = [195, 1_950];
const LOGS = toRest(JSON.stringify(Array.from({ length: 3_550 }, logAt)));
const CHAIN = toRest('"0x1"');
const SMALL = toRest('"0xfffffff"');

/** The ids of calls, as they were sent. */
const IDS = /"id":\s*("[^"]*"|[^,}\s]+)/g;
const ID = new RegExp(IDS.source);

function answerBatch(request: string, socket: Socket): void {
  let body = '';
  for (const [, id] of request.matchAll(IDS)) {
    body += `${body === '' ? '[' : ','}{"jsonrpc":"2.0","id":${id},"result":"${HEAD}"}`;
  }
  socket.write(`${getHead(body.length + 1)}${body}]`, 'latin1');
}

function answerTo(request: string, socket: Socket): void {
  if (request.startsWith('[', END.length)) {
    answerBatch(request, socket);
    return;
  }
  const id = ID.exec(request)?.[1] ?? 'null';
  if (request.includes('eth_getBlockByNumber')) {
    const number = /"params":\["(\w+)"/.exec(request)?.[1] ?? HEAD;
    if (number === 'finalized') sendBlock(socket, id, FINALIZED, 0);
    else if (number === 'latest') sendBlock(socket, id, HEAD, 0);
    else sendBlock(socket, id, number, number.startsWith('0x2000') ? LARGE_BLOCK : BLOCK);
  } else if (request.includes('eth_chainId')) send(socket, id, CHAIN);
  else send(socket, id, request.includes('eth_getLogs') ? LOGS : SMALL);
}

function serve(socket: Socket): void {
  let held: Buffer = Buffer.alloc(0);
  socket.setNoDelay(true);
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    for (;;) {
      const end = held.indexOf(END);
      if (end === -1) return;
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(held.toString('latin1', 0, end))?.[1] ?? 0);
      const next = end + END.length + length;
      if (held.length < next) return;
      answerTo(held.toString('latin1', end, next), socket);
      held = held.subarray(next);
    }
  });
}

const server = createServer(serve).listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
