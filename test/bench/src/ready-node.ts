/**
 * A program: `node ready-node.js` is a node whose answers lie ready in memory, so that what is measured is the way to
 * it and not the node: a block of about 200 KB, a block of about 2 MB (numbers from 0x20000000 on), about 2 MB of
 * logs, small values for everything else. Block 0x10 is final. Every body is read to its end, nothing else of it is.
 */

import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

const FINALIZED = '0x10';
const HEAD = '0xfffffff';
const HASH = `0x${'ab'.repeat(32)}`;
const END = Buffer.from('\r\n\r\n');

const answer = (result: string): Buffer => {
  const body = `{"jsonrpc":"2.0","id":1,"result":${result}}`;
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    'latin1',
  );
};

function block(number: string, transactions: number): Buffer {
  const transaction = {
    blockHash: HASH,
    blockNumber: number,
    from: HASH.slice(0, 42),
    gas: '0x5208',
    gasPrice: '0x3b9aca00',
    hash: HASH,
    input: `0x${'00c0ffee'.repeat(60)}`,
    nonce: '0x1',
    to: HASH.slice(0, 42),
    transactionIndex: '0x0',
    value: '0xde0b6b3a7640000',
    type: '0x0',
    v: '0x25',
    r: HASH,
    s: HASH,
  };
  return answer(
    JSON.stringify({
      number,
      hash: HASH,
      parentHash: HASH,
      transactions: new Array(transactions).fill(transaction),
    }),
  );
}

const log = {
  address: HASH.slice(0, 42),
  topics: [HASH, HASH, HASH],
  data: `0x${'00'.repeat(32)}`,
  blockNumber: HEAD,
  transactionHash: HASH,
  transactionIndex: '0x1',
  blockHash: HASH,
  logIndex: '0x2',
  removed: false,
};

const EMPTY_BLOCKS = { finalized: block(FINALIZED, 0), latest: block(HEAD, 0) };
const BLOCK = block('0xfffff', 195);
const LARGE_BLOCK = block('0xfffff', 1_950);
const LOGS = answer(JSON.stringify(new Array(3_550).fill(log)));
const CHAIN = answer('"0x1"');
const SMALL = answer('"0xfffffff"');

function answerTo(request: string): Buffer {
  if (request.includes('eth_getBlockByNumber')) {
    if (request.includes('"finalized"')) return EMPTY_BLOCKS.finalized;
    if (request.includes('"latest"')) return EMPTY_BLOCKS.latest;
    return request.includes('"0x2000') ? LARGE_BLOCK : BLOCK;
  }
  if (request.includes('eth_chainId')) return CHAIN;
  return request.includes('eth_getLogs') ? LOGS : SMALL;
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
      socket.write(answerTo(held.toString('latin1', end, next)));
      held = held.subarray(next);
    }
  });
}

const server = createServer(serve).listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
