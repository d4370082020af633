/** Names a data file: of a table, by its blocks and its bytes. */
interface LakeFileName {
  network: string;
  kind: string;
  firstBlock: number;
  lastBlock: number;
  /** Of the file, hex; the name has the first 16 digits. */
  sha256: string;
}

/** Before the name of the network: no network's name has an underscore, so these are no objects of bundles. */
const ROOT = '_lake';
const KEY =
  /^_lake\/([a-z0-9-]+)\/([a-z]+)\/((?:0|[1-9]\d{0,14})-(?:0|[1-9]\d{0,14})-[0-9a-f]{16}\.parquet)$/;
const FILE_NAME = /^(0|[1-9]\d{0,14})-(0|[1-9]\d{0,14})-[0-9a-f]{16}\.parquet$/;

/** The key of the object of a data file: never of other bytes, so readers may keep what they read. */
export function lakeFileKey({ network, kind, firstBlock, lastBlock, sha256 }: LakeFileName): string {
  return `${lakePrefix(network)}${kind}/${firstBlock}-${lastBlock}-${sha256.slice(0, 16)}.parquet`;
}

/** What the keys of a network begin with. */
export function lakePrefix(network: string): string {
  return `${ROOT}/${network}/`;
}

/** Whether a key is of an object of the lake. */
export function isLakeKey(key: string): boolean {
  return key.startsWith(`${ROOT}/`);
}

/** What a key says; null: it is no key of a data file. */
export function parseLakeKey(
  key: string,
): { network: string; kind: string; firstBlock: number; lastBlock: number } | null {
  const [, network, kind, file] = KEY.exec(key) ?? [];
  const blocks = file === undefined ? null : parseLakeFileName(file);
  return network === undefined || kind === undefined || blocks === null ? null : { network, kind, ...blocks };
}

/** The blocks of the file of this name, the last part of a key; null: it is no such name. */
export function parseLakeFileName(name: string): { firstBlock: number; lastBlock: number } | null {
  const [, first, last] = FILE_NAME.exec(name) ?? [];
  return first === undefined ? null : { firstBlock: Number(first), lastBlock: Number(last) };
}
