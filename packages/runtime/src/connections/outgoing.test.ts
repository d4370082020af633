import { expect, it } from 'vitest';
import { getCertificateHint } from './outgoing.js';

it('names NODE_EXTRA_CA_CERTS for authorities that Node does not know, and for nothing else', () => {
  expect(getCertificateHint({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' })).toContain('NODE_EXTRA_CA_CERTS=');
  const inner = new Error('fetch failed', { cause: { code: 'SELF_SIGNED_CERT_IN_CHAIN' } });
  expect(getCertificateHint(inner)).toContain('/path/to/ca.pem');
  for (const other of [{ code: 'CERT_HAS_EXPIRED' }, new Error('no'), undefined, null])
    expect(getCertificateHint(other)).toBeUndefined();
});
