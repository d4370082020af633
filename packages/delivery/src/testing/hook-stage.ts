import { createHmac } from 'node:crypto';
import type { FeedStep } from '@packhouse/manifest';
import { createPost } from '@packhouse/outbound';
import { createQueues, type Queues } from '@packhouse/queue';
import { makeHookSalt, toHookSecret } from '../outbox/secret.js';
import type { HookNetwork } from '../webhooks/begin-delivery.js';
import { createHookDelivery } from '../webhooks/deliver.js';
import { hookLoop } from '../webhooks/dispatch.js';
import type { LogMatcher } from '../webhooks/match-logs.js';
import { openStage, type Posted } from './open-stage.js';

/** A delivery as a receiver got it. */
interface Received extends Posted {
  /** The blocks of its steps. */
  blocks: number[];
}

/** A step without its cursor. */
export type BareStep = FeedStep extends infer S ? (S extends FeedStep ? Omit<S, 'cursor'> : never) : never;

/** Postgres, the queue on it, a receiver of webhooks, and a feed that the test writes. */
export type HookStage = Awaited<ReturnType<typeof openHookStage>>;

/** Opens it, with the network `main`. */
export async function openHookStage(postgresUrl: string) {
  const stage = await openStage(postgresUrl, {
    networks: ['main'],
    maxPauseMs: 50,
    toPosted: (posted): Received => {
      const { steps } = JSON.parse(posted.body).data as { steps: { block: number }[] };
      return { ...posted, blocks: steps.map(({ block }) => block) };
    },
  });
  const { database, databaseUrl, makeContext, onClose, open, seal, url } = stage;

  const steps: FeedStep[] = [];
  const listeners = new Set<{ changed(): void }>();
  const waiting: FeedStep = {
    step: 'waiting',
    block: 0,
    reason: 'not-produced',
    detail: 'It is not there yet.',
    kinds: ['logs'],
    cursor: '',
  };
  const feed: HookNetwork['feed'] = {
    begin: async () => '0',
    read: async (cursor, { limit }) => {
      const from = Number(cursor);
      const page = steps.slice(from, from + limit);
      const end = from + page.length;
      const waits = end === steps.length;
      const all = waits ? [...page, { ...waiting, cursor: String(end) }] : page;
      return { steps: all, cursor: String(end), waits, place: { serial: 0, block: 0 } };
    },
    changed: async () => false,
  };
  const matcher: LogMatcher = { block: async () => true, bundle: async () => true };

  return {
    ...stage,
    received: stage.posted,
    /** Adds steps to the feed, and tells everybody. */
    tell(...more: BareStep[]): void {
      for (const step of more) steps.push({ ...step, cursor: String(steps.length + 1) } as FeedStep);
      for (const each of listeners) each.changed();
    },
    /** Adds a hook; returns its id and secret. */
    async add(path = '/', given: object = {}): Promise<{ id: number; secret: string }> {
      const salt = makeHookSalt();
      const hook = { network: 'main', url: `${url}${path}`, kinds: ['logs' as const], finalOnly: false };
      const none = { addresses: [], topics: [], from: 0, salt };
      const row = await database.hooks.add({ ...hook, ...none, ...given }, 'test');
      return { id: row?.id as number, secret: toHookSecret(seal, salt) };
    },
    /** The handler of one process, and what ends that. */
    process(quarantineDays = 3, timeoutMs = 5_000) {
      const { context: own, stop } = makeContext();
      const post = createPost({ allowed: (address) => address === '127.0.0.1', timeoutMs });
      const handle = createHookDelivery({
        context: own,
        database: open(own),
        seal,
        post,
        network: () => ({ feed, matcher, downloadUrl: '/main/files' }),
        quarantineDays,
      });
      const run = (hook: number, signal = stop.signal): Promise<void> =>
        handle({ id: `hook-${hook}`, payload: { network: 'main', hook }, attempt: 1, signal });
      return { context: own, run, handle, stop };
    },
    /** A packer: its loop and its worker. */
    async packer(concurrency = 8): Promise<{ queues: Queues; stop(): Promise<void> }> {
      const { context: own, handle, stop } = this.process();
      const queues = await createQueues({ databaseUrl, context: own, backoffMs: 20 });
      const worker = await queues.work('hook', handle, { concurrency });
      const changes = {
        listen: (_: string, listener: { changed(): void }) => {
          listeners.add(listener);
          return () => void listeners.delete(listener);
        },
      };
      const looping = hookLoop({ context: own, database: open(own), queues, changes });
      const end = async (): Promise<void> => {
        stop.abort(new Error('the packer ends'));
        await Promise.all([looping, worker.close()]);
        await queues.close();
      };
      onClose(end);
      return { queues, stop: end };
    },
  };
}

/** Whether a delivery is signed with a secret, as docs/webhooks.md says. */
export function isSigned({ headers, body }: Pick<Received, 'headers' | 'body'>, secret: string): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const expected = `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
  return String(headers['webhook-signature']).split(' ').includes(expected);
}
