/** What the index says of a file, and the line of the manifest on it. */
export interface PublishedFile {
  network: string;
  kind: string;
  start: number;
  end: number;
  byteLength: number;
  rawLength: number;
  sha256: string;
  firstHash: string;
  lastHash: string;
  version: number;
  publishedAt: string;
  /** null: it waits for its entry. */
  entry: string | null;
}

export interface SigningKey {
  keyId: string;
  /** Raw, base64. */
  publicKey: string;
  createdAt: string;
  retiredAt: string | null;
}

/** One thing that was looked at in the browser. */
export interface Check {
  name: string;
  /** null: it could not be looked at. */
  fits: boolean | null;
  found: string;
}

const SEAL = /,"hash":"([0-9a-f]{64})","signature":"([A-Za-z0-9+/]{86}==)"\}$/;

/**
 * Checks a file against its entry of the manifest, and the entry's hash and signature against the keys: what these checks
 * pass, the holder of the key signed. Without `subtle`, which browsers have at https: and on localhost only, the size
 * alone can be compared.
 */
export async function checkFile(
  bytes: ArrayBuffer,
  file: PublishedFile,
  keys: readonly SigningKey[],
  subtle: SubtleCrypto | undefined = crypto.subtle,
): Promise<Check[]> {
  const size = compare('Size', bytes.byteLength, file.byteLength, 'bytes');
  if (subtle === undefined) {
    const found = 'This browser computes no SHA-256 here: open the console by https: or on its own machine.';
    return [size, { name: 'SHA-256', fits: null, found }];
  }
  const sha256 = await digest(subtle, bytes);
  const sum = compare('SHA-256', sha256, file.sha256);
  if (file.entry === null) {
    const found = 'The manifest has no entry on it yet; a packer that has the signing key adds it.';
    return [size, sum, { name: 'Entry of the manifest', fits: null, found }];
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
    (['network', 'kind', 'start', 'end'] as const).every((field) => entry[field] === file[field]);
  const names: Check = {
    name: 'Entry of the manifest',
    fits: same,
    found: same ? `Entry ${entry.sequence} names this very file.` : 'The entry is on another file.',
  };
  const hashed = compare('Hash of the entry', await digest(subtle, text.buffer), hash);
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
  if (key === undefined) return { name, fits: false, found: `No signing key has the id ${keyId}.` };
  const raw = bytesOf(key.publicKey);
  if ((await digest(subtle, raw.buffer)).slice(0, keyId.length) !== keyId) {
    return { name, fits: false, found: `The key ${keyId} is not the one that its id names.` };
  }
  try {
    const imported = await subtle.importKey('raw', raw, 'Ed25519', false, ['verify']);
    const fits = await subtle.verify('Ed25519', imported, bytesOf(signature), text);
    return { name, fits, found: fits ? `Signed with ${keyId}.` : `Key ${keyId} did not sign this entry.` };
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    return { name, fits: null, found: 'This browser knows no Ed25519; `packhouse pull` checks it too.' };
  }
}

function compare(name: string, got: string | number, expected: string | number, unit = ''): Check {
  const fits = got === expected;
  return {
    name,
    fits,
    found: fits ? `${got} ${unit}`.trim() : `${got} instead of ${expected} ${unit}`.trim(),
  };
}

async function digest(subtle: SubtleCrypto, bytes: ArrayBuffer): Promise<string> {
  const sum = new Uint8Array(await subtle.digest('SHA-256', bytes));
  return [...sum].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
