import { KINDS } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import type { AuditRequest } from '@packhouse/pipeline';
import { PackhouseError } from '@packhouse/runtime';
import { checkRange, parseBlockNumber, parseKinds, parseNetworkName } from '../parse.js';

/** The flags of `packhouse audit`. */
export interface AuditFlags {
  network?: string;
  kind: string;
  from?: string;
  to?: string;
  sample?: string;
  seed?: string;
  repair?: boolean;
  deleteOrphans?: boolean;
  json?: boolean;
  dataDir?: string;
}

/** What the flags ask for but the networks. Throws RANGE_INVALID, KIND_UNKNOWN, USAGE. */
export function auditRequest(flags: AuditFlags, today: Date): Omit<AuditRequest, 'networks'> {
  const start = flags.from === undefined ? 0 : parseBlockNumber(flags.from, '--from');
  const end = flags.to === undefined ? Number.MAX_SAFE_INTEGER : parseBlockNumber(flags.to, '--to');
  checkRange(start, end);
  const sample = flags.sample === undefined ? 1 : parseShare(flags.sample);
  if (sample < 1 && flags.deleteOrphans === true) {
    throw new PackhouseError({
      code: 'USAGE',
      message: '--delete-orphans needs the object list, which an audit of a sample does not compare.',
      hint: 'Leave --sample out.',
    });
  }
  return {
    kinds: flags.kind === 'all' ? [...KINDS] : parseKinds(flags.kind),
    range: { start, end },
    sample,
    seed: flags.seed ?? today.toISOString().slice(0, 10),
    objects: sample === 1,
  };
}

/** The networks to be audited: the one that is named, else all there are. Throws NETWORK_UNKNOWN, AUDIT_EMPTY. */
export async function auditedNetworks(database: Database, name: string | undefined): Promise<string[]> {
  const known = (await database.networks.list()).map(({ id }) => id);
  if (name === undefined && known.length > 0) return known;
  if (name === undefined) {
    throw new PackhouseError({
      code: 'AUDIT_EMPTY',
      message: 'The database knows no network yet, so there is nothing to audit.',
      hint: 'A network becomes known when an ingester that has it in its networks file starts.',
    });
  }
  parseNetworkName(name);
  if (known.includes(name)) return [name];
  throw new PackhouseError({
    code: 'NETWORK_UNKNOWN',
    message: `The database does not know a network "${name}".`,
    hint: known.length === 0 ? 'It knows none yet.' : `It knows ${known.join(', ')}.`,
  });
}

function parseShare(text: string): number {
  const share = Number(text);
  if (/^\d*\.?\d+$/.test(text) && share > 0 && share <= 1) return share;
  throw new PackhouseError({
    code: 'USAGE',
    message: `--sample takes a share of the bundles above 0 and up to 1, got "${text}".`,
    hint: 'For example --sample 0.01 for one in a hundred.',
  });
}
