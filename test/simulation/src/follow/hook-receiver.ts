import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Database } from '@packhouse/database';
import { makeHookSalt, toHookSecret } from '@packhouse/delivery';
import type { FeedStep } from '@packhouse/manifest';
import type { HonestChain } from '../chain/honest-chain.js';
import { createFindings, type Verdict } from '../invariants/verdict.js';
import type { Random } from '../random.js';
import { createFeedTable, FOLLOWED } from './feed-table.js';

/** A receiver of a webhook that follows the chain, and fails now and then. */
export interface HookReceiver {
  /** Waits for the head; then what it has must be the chain. */
  finish(): Promise<Verdict>;
  stop(): Promise<void>;
}

/** One of so many deliveries fails before it is kept, and as many after. */
const FAILS = 8;
const PATIENCE_MS = 120_000;
const RESUME_EVERY_MS = 5_000;

/** Adds a webhook of the network and receives it. SPEC.md, invariant 13. */
export async function startHookReceiver(options: {
  database: Database;
  network: string;
  gatewayUrl: string;
  apiKey: string;
  chain: HonestChain;
  random: Random;
}): Promise<HookReceiver> {
  const { database, network, gatewayUrl, apiKey, chain, random } = options;
  const findings = createFindings(13, 'a webhook has each block once, in order, whatever is killed');
  const table = createFeedTable(chain, findings);
  const known = new Set<string>();
  const salt = makeHookSalt();
  const secret = toHookSecret(await database.operators.seal(), salt);
  let busy: Promise<unknown> = Promise.resolve();

  const apply = async (id: string, steps: readonly FeedStep[]): Promise<void> => {
    if (known.has(id)) return;
    const files: (Buffer | undefined)[] = [];
    for (const step of steps)
      files.push(step.step === 'bundle' ? await download(step.download_link) : undefined);
    for (const [at, step] of steps.entries()) table.apply(step, files[at]);
    known.add(id);
  };
  const download = async (link: string): Promise<Buffer> => {
    const file = await fetch(new URL(link, gatewayUrl), { headers: { authorization: `Bearer ${apiKey}` } });
    if (file.status !== 200) throw new Error(`status ${file.status}`);
    return Buffer.from(await file.arrayBuffer());
  };
  /** Returns the status. */
  const receive = async ({ headers }: IncomingMessage, body: Buffer): Promise<number> => {
    const [id, time] = [String(headers['webhook-id']), String(headers['webhook-timestamp'])];
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    const signed = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest('base64');
    if (headers['webhook-signature'] !== `v1,${signed}`) findings.violated(`delivery ${id} is not signed`);
    if (random.int(FAILS) === 0) return 500;
    const { data } = JSON.parse(body.toString()) as { data: { steps: FeedStep[] } };
    try {
      await apply(id, data.steps);
    } catch {
      // The gateway is being killed now and then.
      return 503;
    }
    return random.int(FAILS) === 0 ? 500 : 204;
  };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      // A packer that was killed may have sent one that is still worked on.
      busy = busy.then(async () => {
        response.writeHead(await receive(request, Buffer.concat(parts))).end();
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const hook = {
    network,
    url,
    kinds: [...FOLLOWED],
    finalOnly: false,
    addresses: [],
    topics: [],
    from: chain.first,
    salt,
  };
  const added = await database.hooks.add(hook, 'simulation');
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await busy;
  };
  return {
    stop,
    async finish() {
      const until = Date.now() + PATIENCE_MS;
      for (let resumedAt = 0; !table.has(chain.head()) && Date.now() < until; ) {
        // An operator who knows that the receiver is well again.
        if (Date.now() - resumedAt > RESUME_EVERY_MS && added !== null) {
          resumedAt = Date.now();
          await database.hooks.setState(added.id, 'active', 'simulation');
        }
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      await busy;
      if (!table.has(chain.head())) findings.violated(`it does not come to the head ${chain.head()}`);
      table.compare(chain.head());
      return findings.verdict();
    },
  };
}
