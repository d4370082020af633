import cluster from 'node:cluster';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listens on a free port in so many processes of this program, as a gateway does, and prints `say` of the port once all do. */
export function listenInWorkers(server: Server, workers: number, say = (port: number) => `${port}`): void {
  const print = (port: number): void => void process.stdout.write(`${say(port)}\n`);
  if (workers > 1 && cluster.isPrimary) {
    let listening = 0;
    cluster.on('listening', (_, { port }) => {
      listening += 1;
      if (listening === workers) print(port);
    });
    for (let count = 0; count < workers; count += 1) cluster.fork();
  } else {
    server.listen(0, '127.0.0.1', () => {
      if (cluster.isPrimary) print((server.address() as AddressInfo).port);
    });
  }
  // Workers end with the primary.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
}
