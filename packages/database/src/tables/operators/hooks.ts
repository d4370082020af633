import type { Kind } from '@packhouse/chain';
import { type Connections, statement } from '../../connection/connections.js';
import { createReceivers, RECEIVER, type Receiver, toRestart } from './receivers.js';

/** A webhook: a receiver of the feed of a network, by address and filter. */
export interface Hook extends Receiver {
  network: string;
  /** Where deliveries are sent; its path may be a secret of the receiver. */
  url: string;
  kinds: Kind[];
  /** Whether only what is final is delivered. */
  finalOnly: boolean;
  /** Only blocks with a log of one of these accounts, `0x` hex in lower case; empty: all. */
  addresses: string[];
  /** Only blocks with a log whose first topic is one of these, `0x` hex in lower case; empty: all. */
  topics: string[];
  /** Quarantined: it accepted nothing for days, and is not tried until somebody resumes it. */
  state: 'active' | 'paused' | 'quarantined';
  /** The first block. */
  from: number;
  /** When the next delivery is due; null: when the network changes. */
  dueAt: Date | null;
}

/** What can be changed of a hook. */
export type HookTerms = Pick<Hook, 'url' | 'kinds' | 'addresses' | 'topics'>;

type NewHook = Pick<Hook, 'network' | 'url' | 'kinds' | 'finalOnly' | 'addresses' | 'topics' | 'from'> & {
  /** 32 random bytes: see packages/delivery/src/outbox/secret.ts. */
  salt: Buffer;
};

/** A Hook, from hook h and network n. */
export const HOOK = `h.id, n.name AS network, h.url, h.kinds, h.final_only AS "finalOnly", h.addresses, h.topics, h.state,
  h.start_block AS "from", ${RECEIVER}`;
export const HOOKS = 'packhouse.hook AS h JOIN packhouse.network AS n ON n.id = h.network_id';

/** $1 network, $2 url, $3 kinds, $4 final only, $5 addresses, $6 topics, $7 first block, $8 salt. */
const insertHook = statement(
  'hooks/insert-hook',
  `INSERT INTO packhouse.hook (network_id, url, kinds, final_only, addresses, topics, start_block, salt)
   SELECT n.id, $2, $3::text[], $4, $5::text[], $6::text[], $7::int8, $8 FROM packhouse.network AS n WHERE n.name = $1
   RETURNING id`,
);

/** $1 network or null for all, $2 id to begin after, $3 limit. */
const selectHooks = statement(
  'hooks/select-hooks',
  `SELECT ${HOOK} FROM ${HOOKS} WHERE ($1::text IS NULL OR n.name = $1) AND h.id > $2::int8 ORDER BY h.id LIMIT $3`,
);

/** $1 id, $2 url, $3 kinds, $4 addresses, $5 topics. Another address is tried at once, as if it had never failed. */
const updateHook = statement(
  'hooks/update-hook',
  `UPDATE packhouse.hook SET url = $2, kinds = $3::text[], addresses = $4::text[], topics = $5::text[],
     ${toRestart('url <> $2')}
   WHERE id = $1`,
);

/**
 * Webhooks as operators see them. `actor` is noted in the history of changes, subject `hook <id>`; of the address only
 * the host, as its path may be a secret.
 */
export function createHooks(connections: Connections) {
  const { insert, update, ...receivers } = createReceivers<Hook>(connections, {
    name: 'hooks',
    subject: 'hook',
    table: 'packhouse.hook',
    columns: HOOK,
    from: HOOKS,
    toNoted: ({ network, url, kinds, finalOnly, addresses, topics, state, from, oldSecretUntil }) => {
      const { host } = new URL(url);
      return { network, host, kinds, finalOnly, addresses, topics, state, from, oldSecretUntil };
    },
  });
  return {
    ...receivers,
    /** Returns null if the network is unknown. */
    add: ({ network, url, kinds, finalOnly, addresses, topics, from, salt }: NewHook, actor: string) =>
      insert(insertHook, [network, url, kinds, finalOnly, addresses, topics, from, salt], actor),
    /** By id, after this one. */
    list: ({
      network,
      after,
      limit,
    }: {
      network?: string | undefined;
      after?: number | undefined;
      limit: number;
    }) => connections.query<Hook>(selectHooks, [network ?? null, after ?? 0, limit]),
    /** See `update` of createReceivers. */
    change: (id: number, work: (before: Hook) => HookTerms, actor: string) => {
      const toUpdate = (before: Hook) => {
        const { url, kinds, addresses, topics } = work(before);
        return { values: [url, kinds, addresses, topics], newAddress: url !== before.url };
      };
      return update(id, updateHook, toUpdate, actor);
    },
  };
}
