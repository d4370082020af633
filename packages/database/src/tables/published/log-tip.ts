import { NO_ENTRY, type Signer } from '@packhouse/manifest';
import { PackhouseError } from '@packhouse/runtime';
import { type Session, statement } from '../../connection/connections.js';

/** $1 network id, $2 kind, $3 the signer's key id: one step at the end of the primary key, and two tiny tables. */
const tipOf = (name: string, table: string) =>
  statement(
    name,
    `SELECT coalesce(tip.sequence, -1) AS sequence, encode(tip.hash, 'hex') AS hash, network.chain_id AS "chainId",
       date_trunc('milliseconds', clock_timestamp()) AS now,
       key.id AS key, key.retired_at IS NOT NULL AS retired,
       (SELECT key_id FROM packhouse.signing_key WHERE retired_at IS NULL) AS current
     FROM packhouse.network
     LEFT JOIN LATERAL (
       SELECT sequence, hash FROM packhouse.${table}
       WHERE network_id = $1 AND kind = $2
       ORDER BY sequence DESC
       LIMIT 1
     ) AS tip ON true
     LEFT JOIN packhouse.signing_key AS key ON key.key_id = $3
     WHERE network.id = $1`,
  );
/** The signed logs: of bundles, and of the files of tables. */
const TIPS = {
  bundles: tipOf('log-tip/select-bundles', 'manifest'),
  tables: tipOf('log-tip/select-tables', 'lake_entry'),
};

/** The end of a log, which the next entry refers to. */
export interface Tip {
  sequence: number;
  hash: string;
  chainId: number;
  /** The database's time, whole milliseconds. */
  now: Date;
  /** Stored id of the signer's key. */
  key: number;
}

/** Reads the end of a log; its lock must be held. Throws SIGNING_KEY_CHANGED. */
export async function readTip(
  session: Session,
  { of = 'bundles', networkId, kind }: { of?: keyof typeof TIPS; networkId: number; kind: number },
  signer: Signer,
): Promise<Tip> {
  const row = await session.queryOne<TipRow>(TIPS[of], [networkId, kind, signer.keyId]);
  if (row === null) throw new Error(`no network has the id ${networkId}`);
  const { retired, current, key, hash, ...tip } = row;
  if (key === null || retired) throw signingKeyChanged(signer.keyId, current);
  return { ...tip, key, hash: hash ?? NO_ENTRY };
}

interface TipRow extends Omit<Tip, 'hash' | 'key'> {
  hash: string | null;
  /** null if it was never registered. */
  key: number | null;
  retired: boolean;
  current: string | null;
}

/** The error for a signer whose key is not the current one. */
function signingKeyChanged(keyId: string, current: string | null): PackhouseError {
  return new PackhouseError({
    code: 'SIGNING_KEY_CHANGED',
    message: `The signing key that is here is ${keyId}, but the manifest is signed with ${current === null ? 'none that this database knows' : `key ${current}`}.`,
    hint: 'Put the file of that key back; to go on with the one that is here, run `packhouse manifest rotate`: entries already signed stay valid.',
    data: { got: keyId, expected: current },
  });
}
