import type { Kind } from '@packhouse/chain';
import { Problem } from '../../http/problem.js';

/** The manifest that a cursor belongs to. */
export interface ManifestLog {
  network: string;
  kind: Kind;
}

/** The cursor after an entry: `<network>:<kind>:<sequence>`; -1 is before the first. */
export function manifestCursor({ network, kind }: ManifestLog, sequence: number): string {
  return `${network}:${kind}:${sequence}`;
}

/**
 * The sequence after which to continue, from a number or a cursor of this manifest; absent: before the first. Throws
 * the problem `cursor-invalid`.
 */
export function sequenceOfCursor(text: string | undefined, log: ManifestLog): number {
  if (text === undefined) return -1;
  const [, network, kind, digits] = /^(?:([a-z0-9-]{1,64}):([a-z]{1,16}):)?(-1|\d{1,10})$/.exec(text) ?? [];
  if (digits === undefined) {
    throw new Problem('cursor-invalid', {
      detail:
        'after must be the sequence number of an entry, or the cursor from the header packhouse-manifest-next of an earlier answer.',
    });
  }
  if (network !== undefined && (network !== log.network || kind !== log.kind)) {
    throw new Problem('cursor-invalid', {
      detail: `This cursor belongs to the manifest of ${kind} of ${network}, not of ${log.kind} of ${log.network}.`,
      members: { network: log.network, kind: log.kind },
    });
  }
  return Number(digits);
}
