import type { Kind } from '@packhouse/chain';
import { createVerifier, parseEntry, readPublicKeys, type SealedEntry } from '@packhouse/manifest';
import { ALL_ROWS, type Evidence } from './evidence.js';
import { createFindings, type Verdict } from './verdict.js';

/** Invariant 3, as people see it: the signed log holds every published bundle once, with its sha256, and verifies. */
export async function manifestVerifies(
  { database, network, kinds }: Evidence,
  keys: string,
  toLines: (kind: Kind) => Promise<string>,
): Promise<Verdict> {
  const findings = createFindings(3, 'the signed manifest has each bundle once, and verifies');
  for (const kind of kinds) {
    const entries: SealedEntry[] = [];
    try {
      const verifier = createVerifier(readPublicKeys(keys, 'the document of keys'));
      for (const line of (await toLines(kind)).split('\n').filter((each) => each !== '')) {
        const entry = parseEntry(line, `line ${entries.length + 1}`);
        verifier.push(entry);
        entries.push(entry);
      }
    } catch (error) {
      findings.violated(`${kind}: ${(error as Error).message}`);
      continue;
    }
    const logged = entries.map(({ from: start, to: end, sha256 }) => `${start}-${end} ${sha256}`).sort();
    const rows = (await database.network(network).bundles.list(kind, 0, ALL_ROWS))
      .map(({ firstBlock, lastBlock, sha256 }) => `${firstBlock}-${lastBlock} ${sha256}`)
      .sort();
    findings.looked(logged.length);
    const missing = rows.filter((row) => !logged.includes(row));
    const extra = logged.filter((entry, at) => !rows.includes(entry) || logged.indexOf(entry) !== at);
    if (missing.length > 0) findings.violated(`${kind} ${missing[0]} is published and not in the manifest`);
    if (extra.length > 0)
      findings.violated(`${kind} ${extra[0]} is in the manifest and not published, or twice`);
  }
  return findings.verdict();
}
