import { describe, expect, it } from 'vitest';
import { DOCUMENT_BYTES, placeOfDocument } from './token-document.js';

const CID = 'bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi';
const AR = 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG';
const policy = {
  allowHttp: false,
  ipfsGateways: ['https://one.example/ipfs/', 'https://two.example/ipfs/'],
  arweaveGateways: ['https://ar.example/'],
};
const place = (uri: string, more = {}) => {
  const found = placeOfDocument(uri, { ...policy, ...more });
  if ('urls' in found) return found.urls.map(({ href }) => href);
  return 'bytes' in found ? found.bytes.toString() : found.outcome;
};

describe('where a token’s document is', () => {
  it.each([
    [' https://a.example/1.json#x ', ['https://a.example/1.json']],
    ['HTTPS://a.example:443/1', ['https://a.example/1']],
    ['https://a.example:80/1', ['https://a.example:80/1']],
    [
      `ipfs://${CID}/1.json`,
      [`https://one.example/ipfs/${CID}/1.json`, `https://two.example/ipfs/${CID}/1.json`],
    ],
    [`ipfs://ipfs/${CID}`, [`https://one.example/ipfs/${CID}`, `https://two.example/ipfs/${CID}`]],
    [`ar://${AR}/0`, [`https://ar.example/${AR}/0`]],
  ])('%s', (uri, urls) => expect(place(uri)).toEqual(urls));

  it('is in the URI itself where that is data', () => {
    expect(place('data:application/json,{"a":"%20 100% "}')).toBe('{"a":"%20 100% "}');
    expect(place('data:application/json;utf8,{"a":1}')).toBe('{"a":1}');
    expect(place('data:,%7B%7D')).toBe('{}');
    const text = '{"name":"ü"}';
    expect(place(`data:application/json;base64,${Buffer.from(text).toString('base64')}`)).toBe(text);
  });

  it.each([
    ['a relative one', '1.json', 'invalid_uri'],
    ['a bare CID', CID, 'invalid_uri'],
    ['no host', 'https://', 'invalid_uri'],
    ['credentials', 'https://a:b@a.example/', 'invalid_uri'],
    ['another port', 'https://a.example:8080/', 'invalid_uri'],
    ['the port of SSH', 'https://a.example:22/', 'invalid_uri'],
    ['too many characters', `https://a.example/${'x'.repeat(9_000)}`, 'invalid_uri'],
    ['http', 'http://a.example/', 'invalid_scheme'],
    ['a file', 'file:///etc/passwd', 'invalid_scheme'],
    ['gopher', 'gopher://a.example/', 'invalid_scheme'],
    ['a script', 'javascript:alert(1)', 'invalid_scheme'],
    ['a path out of the CID', `ipfs://${CID}/../../admin`, 'invalid_uri'],
    ['the same, encoded', `ipfs://${CID}/%2e%2e/%2e%2e/admin`, 'invalid_uri'],
    ['no CID', 'ipfs://../admin', 'invalid_uri'],
    ['an Arweave id of another length', 'ar://abc', 'invalid_uri'],
    ['data without a comma', 'data:application/json', 'invalid_uri'],
    ['data that is no base64', 'data:;base64,{}', 'invalid_uri'],
    ['too much data', `data:,${'x'.repeat(DOCUMENT_BYTES + 1)}`, 'too_large'],
  ])('%s leads nowhere', (_, uri, outcome) => expect(place(uri)).toBe(outcome));

  it('may be at an http: address where that is allowed', () => {
    expect(place('http://a.example/', { allowHttp: true })).toEqual(['http://a.example/']);
  });
});
