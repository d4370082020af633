import type { Answer } from '../../lib/answers.js';

export type PublishedFile = Answer<'files/show'>;
export type SigningKey = Answer<'manifest/keys'>[number];

/** One check in the browser. */
export interface Check {
  name: string;
  /** null: not checked. */
  passed: boolean | null;
  details: string;
}

const SEAL = /,"hash":"([0-9a-f]{64})","signature":"([A-Za-z0-9+/]{86}==)"\}$/;

/**
 * Checks a file against its entry of the manifest, and the entry's hash and signature against the keys: the holder of the
 * key signed a file that passes. Without `subtle`, which browsers offer over HTTPS and on localhost only, just the size is
 * compared.
 */
export async function checkFile(
  bytes: ArrayBuffer,
  file: PublishedFile,
  keys: readonly SigningKey[],
  subtle: SubtleCrypto | undefined = crypto.subtle,
): Promise<Check[]> {
  const size = compare('Size', bytes.byteLength, file.byteLength, 'bytes');
  if (subtle === undefined) {
    const details = 'This browser offers no SHA-256 here. Open the console over HTTPS or on localhost.';
    return [size, { name: 'SHA-256', passed: null, details }];
  }
  const sha256 = await digest(subtle, bytes);
  const sum = compare('SHA-256', sha256, file.sha256);
  if (file.entry === null) {
    const details = 'No manifest entry yet. A packer with the signing key adds it.';
    return [size, sum, { name: 'Manifest entry', passed: null, details }];
  }
  return [size, sum, ...(await checkEntry(file, { line: file.entry, sha256, keys, subtle }))];
}

async function checkEntry(
  file: PublishedFile,
  given: { line: string; sha256: string; keys: readonly SigningKey[]; subtle: SubtleCrypto },
): Promise<Check[]> {
  const { line, sha256, keys, subtle } = given;
  const [, hash = '', signature = ''] = SEAL.exec(line) ?? [];
  // What is signed is the line without its hash and signature.
  const text = new TextEncoder().encode(line.replace(SEAL, '}'));
  const entry = JSON.parse(line) as Record<string, unknown>;
  const same =
    entry.sha256 === sha256 &&
    (['network', 'kind', 'from', 'to'] as const).every((field) => entry[field] === file[field]);
  const names: Check = {
    name: 'Manifest entry',
    passed: same,
    details: same ? `Entry ${entry.sequence} names this file.` : 'The entry names another file.',
  };
  const hashed = compare('Entry hash', await digest(subtle, text.buffer), hash);
  return [names, hashed, await checkSignature(text, signature, String(entry.keyId), keys, subtle)];
}

async function checkSignature(
  text: Uint8Array<ArrayBuffer>,
  signature: string,
  keyId: string,
  keys: readonly SigningKey[],
  subtle: SubtleCrypto,
): Promise<Check> {
  const name = 'Signature';
  const key = keys.find((each) => each.keyId === keyId);
  if (key === undefined) return { name, passed: false, details: `Unknown signing key ${keyId}.` };
  const raw = toBytes(key.publicKey);
  if ((await digest(subtle, raw.buffer)).slice(0, keyId.length) !== keyId) {
    return { name, passed: false, details: `Key ${keyId} does not match its ID.` };
  }
  try {
    const imported = await subtle.importKey('raw', raw, 'Ed25519', false, ['verify']);
    const passed = await subtle.verify('Ed25519', imported, toBytes(signature), text);
    return { name, passed, details: passed ? `Signed with ${keyId}.` : `Not signed with ${keyId}.` };
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    return { name, passed: null, details: 'This browser has no Ed25519. `packhouse pull` checks it.' };
  }
}

/** The check that two figures are the same. */
export function compare(name: string, got: string | number, expected: string | number, unit = ''): Check {
  const passed = got === expected;
  return {
    name,
    passed,
    details: passed ? `${got} ${unit}`.trim() : `${got}, expected ${expected} ${unit}`.trim(),
  };
}

async function digest(subtle: SubtleCrypto, bytes: ArrayBuffer): Promise<string> {
  const sum = new Uint8Array(await subtle.digest('SHA-256', bytes));
  return [...sum].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

const toBytes = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
