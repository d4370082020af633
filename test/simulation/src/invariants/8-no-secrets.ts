import { createFindings, type Verdict } from './verdict.js';

/** Something that people may read. */
export interface PublicText {
  /** Which log, metric or answer it is. */
  name: string;
  text: string;
}

/** Invariant 8: no key and no credential is in any of these texts. `secrets` are named, so that none is repeated here. */
export function noSecrets(texts: readonly PublicText[], secrets: Readonly<Record<string, string>>): Verdict {
  const findings = createFindings(8, 'no key and no credential in what people may read');
  for (const { name, text } of texts) {
    findings.looked();
    for (const [secret, value] of Object.entries(secrets)) {
      const at = text.indexOf(value);
      if (at < 0) continue;
      const around = text.slice(Math.max(0, at - 80), at + value.length + 40).replaceAll(value, '***');
      findings.violated(`${name} holds ${secret}: …${around}…`);
    }
  }
  return findings.verdict();
}
