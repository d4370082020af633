import { basename } from 'node:path/posix';
import type { BlockRange } from '@packhouse/chain';
import type { Database, LakeFile } from '@packhouse/database';
import {
  type DataFile,
  encodeManifest,
  encodeManifestList,
  type Field,
  type ListedManifest,
} from '@packhouse/lake';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { Problem } from '../http/problem.js';
import { type Group, maxFilesOf, toGroups } from './groups.js';
import type { Kept } from './table-request.js';
import { addressOf, getChunks, limitOf, type TableRequest, viewOf } from './table-request.js';

/** Lengths of manifests that are kept: lists have them. */
const MAX_LENGTHS = 100_000;
/** Manifests that are made at a time for a list. */
const AT_A_TIME = 2;

/** Makes the manifests of tables and their lists as they are asked for. */
export function createManifests({ database, kept }: { database: Database; kept: Kept }) {
  const lengths = new LRUCache<string, number>({ max: MAX_LENGTHS });
  const nameOf = (request: TableRequest, group: BlockRange, snapshot: number): string =>
    `manifest-${group.firstBlock}-${group.lastBlock}-${snapshot}-${viewOf(request, group).limit}.avro`;

  /** Throws the problem `file-unknown` if these are no blocks of a group. */
  const getManifest = (request: TableRequest, group: BlockRange, snapshot: number): Promise<Buffer> =>
    kept.once(request, nameOf(request, group, snapshot), async () => {
      const of = { kind: request.table.kind, snapshot, maxBlock: viewOf(request, group).maxBlock };
      const most = maxFilesOf(group);
      const rows =
        most === null ? [] : await database.network(request.network).lake.files(of, group, most + 1);
      if (most === null || rows.length > most) throw unknown('No such file of metadata.');
      const files = rows.map((file): DataFile => ({ ...file, location: dataAddress(request, file) }));
      return encodeManifest(request.table.fields as Field[], files);
    });

  const getLength = async (request: TableRequest, group: Group): Promise<number> => {
    const name = kept.keyOf(request, nameOf(request, group, group.changedSnapshot));
    const known = lengths.get(name);
    if (known !== undefined) return known;
    const { length } = await getManifest(request, group, group.changedSnapshot);
    lengths.set(name, length);
    return length;
  };

  const getList = (request: TableRequest, snapshot: number): Promise<Buffer> =>
    kept.once(request, `list ${snapshot} ${limitOf(request)}`, async () => {
      const groups = toGroups(await getChunks(database.network(request.network).lake, request, snapshot));
      const limit = pLimit(AT_A_TIME);
      const manifests = groups.map((group) =>
        limit(async (): Promise<ListedManifest> => {
          const bytes = await getLength(request, group);
          const name = nameOf(request, group, group.changedSnapshot);
          return { ...group, bytes, location: `${addressOf(request)}/metadata/${name}` };
        }),
      );
      return encodeManifestList(snapshot, await Promise.all(manifests));
    });

  return { getManifest, getList };
}

function dataAddress(request: TableRequest, { objectKey }: Pick<LakeFile, 'objectKey'>): string {
  return `${addressOf(request)}/data/${basename(objectKey)}`;
}

/** The refusal of a file of metadata. */
export function unknown(detail: string): Problem {
  return new Problem('file-unknown', { detail });
}
