// A node with one block whose trace_block answer has as many megabytes as its first argument says; made as it is
// sent, so that it takes no memory here either. Writes its address to stdout.
import { createServer } from 'node:http';

const bytes = Number(process.argv[2]) * 1_000_000;
const hash = `0x${'11'.repeat(32)}`;
const transaction = { hash: `0x${'22'.repeat(32)}` };
const block = {
  number: '0x1',
  hash,
  parentHash: `0x${'00'.repeat(32)}`,
  difficulty: '0x0',
  transactions: [transaction],
};
const receipt = { transactionHash: transaction.hash, blockHash: hash, logs: [] };
const trace = JSON.stringify({
  action: {
    callType: 'call',
    from: `0x${'33'.repeat(20)}`,
    gas: '0x1',
    input: `0x${'44'.repeat(250)}`,
    to: `0x${'55'.repeat(20)}`,
    value: '0x0',
  },
  blockHash: hash,
  blockNumber: 1,
  result: { gasUsed: '0x1', output: '0x' },
  subtraces: 0,
  traceAddress: [0, 1, 2],
  transactionHash: transaction.hash,
  transactionPosition: 0,
  type: 'call',
});
const piece = Array(64).fill(trace).join(',');

const answers = { eth_getBlockByNumber: block, eth_getBlockReceipts: [receipt], eth_chainId: '0x1' };

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const call = JSON.parse(Buffer.concat(chunks).toString());
  if (call.method !== 'trace_block') {
    response.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, result: answers[call.method] ?? null }));
    return;
  }
  response.write(`{"jsonrpc":"2.0","id":${call.id},"result":[${piece}`);
  let sent = piece.length;
  while (sent < bytes && !response.destroyed) {
    sent += piece.length + 1;
    if (!response.write(`,${piece}`)) {
      await new Promise((resolve) => {
        const go = () => {
          response.off('drain', go);
          response.off('close', go);
          resolve();
        };
        response.on('drain', go);
        response.on('close', go);
      });
    }
  }
  response.end(']}');
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${server.address().port}\n`));
