/**
 * A program: a node of which each path answers in its own way. All are honest about the chain and its head.
 *
 * `/slow` takes 6 s for eth_getLogs; `/large` gives blocks of 2 MB, as all do from block 0x2… on; `/cut` ends its answers in the middle, with a
 * length that fits; `/forged` puts an answer of another id behind its own; `/bomb` gives 512 MB of blanks, compressed.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

const FINALIZED = '0x10000000';
const HEAD = '0x10000010';
const HASH = `0x${'ab'.repeat(32)}`;
const SLOW_MS = 6_000;
const LARGE_BYTES = 2_000_000;

interface Call {
  id: unknown;
  method: string;
  params: unknown[];
}

const HONEST = new Set([
  'eth_chainId',
  'net_version',
  'web3_clientVersion',
  'eth_blockNumber',
  'eth_syncing',
]);

/** JSON. */
function toBlock(number: string, rest = ''): string {
  return `{"number":"${number}","hash":"${HASH}","parentHash":"${HASH}","timestamp":"0x1"${rest},"transactions":[]}`;
}
const LARGE_REST = `,"extraData":"0x${'00'.repeat(LARGE_BYTES / 2)}"`;

/** JSON. */
function getResult({ method, params }: Call, way: string): string {
  if (method === 'eth_chainId') return '"0x1"';
  if (method === 'net_version') return '"1"';
  if (method === 'eth_syncing') return 'false';
  if (method === 'eth_getLogs') return '[]';
  if (method === 'eth_getStorageAt') return `"0x${'00'.repeat(31)}2a"`;
  if (method !== 'eth_getBlockByNumber') return `"${HEAD}"`;
  const [asked] = params;
  if (asked === 'latest' || asked === 'pending') return toBlock(HEAD);
  if (asked === 'finalized' || asked === 'safe') return toBlock(FINALIZED);
  return toBlock(String(asked), way === 'large' || /^0x2/.test(String(asked)) ? LARGE_REST : '');
}

const isHeadQuestion = ({ method, params }: Call): boolean =>
  HONEST.has(method) || (method === 'eth_getBlockByNumber' && !/^0x/.test(String(params[0])));

/** Members of gzip, one behind the other, are one stream. */
const BOMB = Buffer.concat(new Array<Buffer>(64).fill(gzipSync(Buffer.alloc(8_000_000, ' '))));

function answer(request: IncomingMessage, response: ServerResponse, text: string): void {
  const way = (request.url ?? '').slice(1);
  const asked = JSON.parse(text) as Call | Call[];
  const calls = Array.isArray(asked) ? asked : [asked];
  const members = calls.map(
    (call) => `{"jsonrpc":"2.0","id":${JSON.stringify(call.id)},"result":${getResult(call, way)}}`,
  );
  let body: string | Buffer = Array.isArray(asked) ? `[${members.join(',')}]` : (members[0] as string);
  const headers: Record<string, string | number> = { 'content-type': 'application/json' };
  if (!calls.every(isHeadQuestion)) {
    // What is left of an object still ends in a brace.
    if (way === 'cut') body = body.slice(0, body.endsWith('}}') ? -1 : -12);
    if (way === 'forged') body = `${body},{"jsonrpc":"2.0","id":2,"result":"0xf00d"}`;
    if (way === 'bomb') {
      body = BOMB;
      headers['content-encoding'] = 'gzip';
    }
  }
  const slow = way === 'slow' && calls.some(({ method }) => method === 'eth_getLogs');
  setTimeout(
    () => {
      response.writeHead(200, { ...headers, 'content-length': Buffer.byteLength(body) });
      response.end(body);
    },
    slow ? SLOW_MS : 0,
  );
}

const server = createServer((request, response) => {
  let text = '';
  request.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  request.on('end', () => answer(request, response, text));
}).listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
// Whoever started it is gone.
process.once('disconnect', () => process.exit(0));
