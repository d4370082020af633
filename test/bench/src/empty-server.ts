/** A program: Fastify with one route that does nothing, as the gateway makes its server; prints its port. */
import type { AddressInfo } from 'node:net';
import { fastify } from 'fastify';

const app = fastify({ logger: false, keepAliveTimeout: 72_000 });
app.get('/empty', (_, reply) => {
  reply.send({ status: 'ok' });
});
await app.listen({ port: 0, host: '127.0.0.1' });
process.stdout.write(`${(app.server.address() as AddressInfo).port}\n`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void app.close());
