/**
 * A program: Fastify with a route that does nothing, as the gateway makes its server, and with one that reads the body of
 * a JSON-RPC call and answers the same to all; prints its port.
 */
import type { AddressInfo } from 'node:net';
import { fastify } from 'fastify';

const app = fastify({ logger: false, keepAliveTimeout: 72_000 });
app.get('/empty', (_, reply) => {
  reply.send({ status: 'ok' });
});
app.removeAllContentTypeParsers();
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
const RESULT = Buffer.from('{"jsonrpc":"2.0","id":1,"result":"0xfffffff"}');
app.post('/empty', (_, reply) => {
  reply.type('application/json').send(RESULT);
});
await app.listen({ port: 0, host: '127.0.0.1' });
process.stdout.write(`${(app.server.address() as AddressInfo).port}\n`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void app.close());
